import { type ExchangeRequest, MOST_TOLD } from '../fleet/protocol.ts';
import { REPLY, TOLD } from './script/exchange.ts';
import { LEND, RATES } from './script/grant.ts';
import { STATE, TIME } from './script/state.ts';

/**
 * The shared store as a script: what `FleetModel` does, statement by statement. It keeps its state in
 * one string, the workers in one hash, two sorted sets of when they expire, and, for the worker that
 * learns, a list of reports and what was learned so far.
 *
 * KEYS: state, workers, leases, active, reports, learned. ARGV: a list as JSON: the request, and as
 * texts, which are not read, its configuration, its plan, what it has learned, and its report. Numbers
 * in answers are printed without exponents, since cjson keeps 14 digits only.
 *
 * One text of six steps: each sees the local names of those before it.
 */
export const SCRIPT = [STATE, TIME, TOLD, LEND, RATES, REPLY].join('');

/**
 * A request as the script takes it: what the script does not read is JSON within the JSON. It is one
 * argument: Redis hangs up, without a reason, on a client that is not authenticated and sends a
 * command of more than 10 parts.
 */
export function argumentOf(request: ExchangeRequest): string {
  const { config, plan, learned, report, ...rest } = request;
  const unread = [config, plan, learned, report].map((part) =>
    part === undefined ? '' : JSON.stringify(part),
  );
  return JSON.stringify([rest, ...unread]);
}

/** The script reads at most this many workers, those that called last. This bounds its cost. */
const MOST_READ = 256;

/**
 * Who works on a key, as a script that only reads: what `FleetModel.workers` does.
 *
 * KEYS: as the other script has them.
 */
export const WORKERS_SCRIPT = `
local packed = redis.call('GET', KEYS[1])
if not packed then return '[]' end
local state = cmsgpack.unpack(packed)
local names = redis.call('ZREVRANGEBYSCORE', KEYS[3], '+inf',
  '(' .. string.format('%.0f', state.alive), 'LIMIT', 0, ${MOST_READ})
if #names == 0 then return '[]' end
local records = redis.call('HMGET', KEYS[2], unpack(names))
local shares = {}
for i, name in ipairs(names) do
  if records[i] then
    local record = cmsgpack.unpack(records[i])
    local active = redis.call('ZSCORE', KEYS[4], name)
    shares[#shares + 1] = {
      worker = name, slots = record.slots.held, bytes = record.bytes.held, sent = record.sent or 0,
      active = active and tonumber(active) > state.alive and 1 or 0,
      leads = state.leader == name and state.leadsUntil > state.alive and 1 or 0
    }
  end
end
if #shares == 0 then return '[]' end
table.sort(shares, function(one, other)
  if one.slots ~= other.slots then return one.slots > other.slots end
  if one.sent ~= other.sent then return one.sent > other.sent end
  return one.worker < other.worker
end)
for i = #shares, ${MOST_TOLD} + 1, -1 do shares[i] = nil end
return cjson.encode(shares)
`;
