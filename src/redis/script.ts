import { type ExchangeRequest, MOST_TOLD } from '../fleet/protocol.ts';
import { REPLY, TOLD } from './script/exchange.ts';
import { LEND, RATES } from './script/grant.ts';
import { STATE, TIME } from './script/state.ts';

/**
 * The shared store as a script: it repeats `FleetModel` statement by statement. It keeps the state
 * in a string, the workers in a hash, the ends of their leases and activity in two sorted sets,
 * and, for the leader, a list of reports and the learned state.
 *
 * KEYS: state, workers, leases, active, reports, learned. ARGV: one JSON list of the request and,
 * as strings that contain JSON, its configuration, plan, learned state and report. Numbers in
 * replies are printed without exponents, since cjson keeps only 14 digits.
 *
 * The text consists of six parts. Each part uses the local names of the parts before it.
 */
export const SCRIPT = [STATE, TIME, TOLD, LEND, RATES, REPLY].join('');

/**
 * The request as the argument of the script. Fields that the script stores as text are JSON strings
 * within the JSON. It is a single argument, since Redis closes the connection without a reason if a
 * client that is not authenticated sends a command of more than 10 parts.
 */
export function argumentOf(request: ExchangeRequest): string {
  const { config, plan, learned, report, ...rest } = request;
  const unread = [config, plan, learned, report].map((part) =>
    part === undefined ? '' : JSON.stringify(part),
  );
  return JSON.stringify([rest, ...unread]);
}

/** The script reads at most this number of workers, the latest callers. This bounds its cost. */
const MOST_READ = 256;

/**
 * The list of the workers of a key, as `FleetModel.workers` returns it. The script only reads.
 *
 * KEYS: the same as of the other script.
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
