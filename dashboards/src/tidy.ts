import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';

/**
 * Without what the builders add unasked: fields that a variable of that kind has not, and a place
 * for links and annotations in a menu, where nobody looks.
 */
export function tidy(dashboard: Dashboard): Dashboard {
  const { templating, annotations, links } = dashboard;
  return {
    ...dashboard,
    templating: {
      list: templating.list?.map(({ auto, auto_min, auto_count, ...variable }) => variable) ?? [],
    },
    annotations: {
      list: annotations.list?.map(({ placement, ...annotation }) => annotation) ?? [],
    },
    links: links?.map(({ placement, ...link }) => link) ?? [],
  };
}
