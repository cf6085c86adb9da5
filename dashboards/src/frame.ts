import {
  AnnotationQueryBuilder,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  TextBoxVariableBuilder,
  VariableHide,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { STATE } from './colours.ts';
import { jaegerSearches } from './jaeger.ts';
import { breakerOpen, outage, throttledMode } from './mappings.ts';
import { LABELS, seriesName } from './metrics.ts';
import { PROMETHEUS, query } from './parts.ts';
import { nameIs, series, sinceLastPoint } from './promql.ts';

/** What is chosen in the editor of a variable: values of a label, or results of a query. */
const LABEL_VALUES = 1;
const QUERY_RESULT = 3;

/** Annotations are at least so far apart; for a long time range Grafana takes a longer step. */
const ANNOTATION_STEP = '5s';

interface Frame {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** The other dashboard, which keeps what is chosen here. */
  readonly other: { readonly uid: string; readonly title: string };
  /** Whether the panels show several limiters together. */
  readonly isForMany: boolean;
}

/** A dashboard without panels: variables, annotations and links, which all dashboards share. */
export function frame({ uid, title, description, other, isForMany }: Frame): DashboardBuilder {
  return new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags(['headgate'])
    .time({ from: 'now-15m', to: 'now' })
    .refresh('5s')
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .variables([dataSource(), job(), instance(), limiter(isForMany), service(), jaeger()])
    .annotations([throttled(), outages(), breakersOpen()])
    .links([
      new DashboardLinkBuilder(other.title)
        .type(DashboardLinkType.Link)
        .icon('dashboard')
        .url(`/d/${other.uid}`)
        .includeVars(true)
        .keepTime(true),
      ...jaegerSearches(isForMany),
    ]);
}

function dataSource(): DatasourceVariableBuilder {
  return new DatasourceVariableBuilder('datasource')
    .label('Data source')
    .description('The Prometheus that has the metrics of headgate.')
    .type('prometheus');
}

function job(): QueryVariableBuilder {
  const requests = `{${nameIs(seriesName('requests'))}}`;
  return labelValues('job', 'job', requests)
    .label('Job')
    .description('The scrape job, or the service that sends its metrics itself. One at a time.');
}

/** Series sent by OTLP without an instance have no such label: "All" takes them too. */
function instance(): QueryVariableBuilder {
  const requests = `{${nameIs(seriesName('requests'))}, job="$job"}`;
  return labelValues('instance', 'instance', requests)
    .label('Instance')
    .description('Processes that use the limiters. Sums are over those that are chosen.')
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ selected: true, text: ['All'], value: ['$__all'] });
}

function limiter(isForMany: boolean): QueryVariableBuilder {
  const requests = `{${nameIs(seriesName('requests'))}, job="$job"}`;
  const variable = labelValues('limiter', LABELS.name, requests)
    .label('Limiter')
    .description('Limiters by their configured names.')
    .multi(isForMany)
    .includeAll(isForMany);
  if (!isForMany) return variable;
  return variable.allValue('.+').current({ selected: true, text: ['All'], value: ['$__all'] });
}

/** The name under which Jaeger knows the chosen job: told by the scrape, else the job itself. */
function service(): QueryVariableBuilder {
  const ofJob = `label_replace(target_info{job="$job"}, "service", "$2", "job", "(.*/)?(.+)")`;
  const ofScrape = `label_replace(${ofJob}, "service", "$1", "service_name", "(.+)")`;
  return queried('service', QUERY_RESULT, `query_result(group by (service) (${ofScrape}))`)
    .regex('/service="([^"]+)"/')
    .hide(VariableHide.HideVariable);
}

function jaeger(): TextBoxVariableBuilder {
  const address = 'http://localhost:16686';
  return new TextBoxVariableBuilder('jaeger')
    .label('Jaeger')
    .description('The address of Jaeger’s pages, for the links to searches.')
    .defaultValue(address)
    .current({ text: address, value: address });
}

/** A variable of the values that a label has in some series. */
function labelValues(name: string, label: string, selector: string): QueryVariableBuilder {
  return queried(name, LABEL_VALUES, `label_values(${selector}, ${label})`);
}

function queried(name: string, qryType: number, text: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .datasource(PROMETHEUS)
    .query({ qryType, query: text, refId: 'PrometheusVariableQueryEditor-VariableQuery' })
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc);
}

function throttled(): AnnotationQueryBuilder {
  return annotation('Throttled mode', STATE.fair, throttledMode(sinceLastPoint));
}

function outages(): AnnotationQueryBuilder {
  return annotation('Outage', STATE.bad, outage(sinceLastPoint));
}

function breakersOpen(): AnnotationQueryBuilder {
  return annotation('Circuit breaker open', STATE.bad, breakerOpen(sinceLastPoint));
}

function annotation(name: string, colour: string, expression: string): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name(name)
    .datasource(PROMETHEUS)
    .enable(true)
    .iconColor(colour)
    .titleFormat(name)
    .textFormat(`{{${LABELS.name}}}`)
    .tagKeys(LABELS.name)
    .target(query(`${expression} == 1`, '').refId('Anno').interval(ANNOTATION_STEP));
}

/** The gates at which requests of the chosen limiter have waited. */
export function waitedAt(): QueryVariableBuilder {
  const waits = series('waitDuration', {}, 'count');
  return labelValues('gate', LABELS.gate, waits)
    .label('Gate')
    .description('Gates at which requests have waited; each has a heat map.')
    .multi(true)
    .includeAll(true)
    .current({ selected: true, text: ['All'], value: ['$__all'] });
}
