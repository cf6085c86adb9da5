/** Takes what the worker tells: its configuration, what it observed, its reports, and its plan if it leads. */
export const TOLD = `
-- The newest configuration wins.
if given ~= '' and given ~= state.config then
  local config = cjson.decode(given)
  local kept = {}
  for i, bucket in ipairs(state.buckets) do
    if bucket.name then kept[bucket.name] = bucket end
  end
  local count = #state.buckets
  local buckets = {}
  local function resized(bucket, limit)
    bucket.capacity = limit.capacity
    bucket.perHour = limit.perHour
    bucket.level = min(bucket.level, limit.capacity)
    return bucket
  end
  for i, limit in ipairs(config.limits) do
    local bucket = kept[limit.name]
    if bucket then buckets[i] = resized(bucket, limit)
    else
      buckets[i] = {
        name = limit.name, capacity = limit.capacity, perHour = limit.perHour, level = 0, carry = 0
      }
    end
  end
  local places = #buckets
  for i = 1, 2 do
    buckets[places + i] = count >= 2 and state.buckets[count - 2 + i]
      or { capacity = 0, perHour = 0, level = 0, carry = 0 }
  end
  state.buckets = buckets
  state.config = given
  state.ttl, state.keep, state.tick = config.ttl, config.keep, config.tick
  state.most = { slots = config.slots, bytes = config.bytes, start = config.startSlots }
  state.epoch = state.epoch + 1
end
if begins then state.roomUntil = state.now + state.ttl end
local knows = given ~= '' or (request.run == state.run and request.epoch == state.epoch)
record = record or {
  sequence = 0, sent = 0, reply = '', slots = { held = 0, claim = 0, seeks = 0 }, bytes = { held = 0, claim = 0, seeks = 0 },
  out = 0, backBy = 0
}
comesBack(record, isNew and request.run ~= 0 and request.run ~= state.run)
redis.call('ZADD', KEYS[3], num(state.alive + state.ttl), worker)

-- What it has observed.
if request.closed > 0 and state.now + request.closed > state.closedUntil then
  state.closedUntil = state.now + request.closed
  state.backoffs = state.backoffs + 1
end
state.throttledUntil = max(state.throttledUntil, state.now + request.throttled)
if request.broken > 0 then state.brokenUntil = max(state.brokenUntil, state.now + request.broken) end

if knows then
  for i, bucket in ipairs(state.buckets) do
    if bucket.perHour > 0 then
      local unused = request.returned[i] or 0
      if unused > 0 then restore(bucket, unused) end
      local amount = request.settled[i] or 0
      if amount ~= 0 then charge(bucket, amount) end
      if i == #state.buckets - 1 then
        state.budget = state.budget + floor(unused / MICRO) + floor(max(0, -amount) / MICRO)
      end
    end
  end
end

-- What it reports.
local unusedRequests = request.unused[#state.buckets - 1] or 0
state.out = state.out + unusedRequests - record.out
record.out = unusedRequests
if report ~= '' then
  push(worker, report)
  state.pending = state.pending + request.sends
end

-- Who leads.
if request.leads == 0 then
  if state.leader == worker then state.leadsUntil = 0 end
elseif (state.leader == '' or state.leadsUntil <= state.alive) and state.leader ~= worker then
  state.leader = worker
  state.terms = state.terms + 1
end
local leads = request.leads == 1 and state.leader == worker
if leads then state.leadsUntil = state.alive + state.ttl end
if leads and request.term == state.terms then
  if learned ~= '' then
    local heard = max(0, min(request.heard - state.dropped, redis.call('LLEN', KEYS[5])))
    redis.call('LTRIM', KEYS[5], heard, -1)
    state.dropped = state.dropped + heard
    redis.call('SET', KEYS[6], learned)
  end
  if planned ~= '' then
    local plan = cjson.decode(planned)
    state.plan = planned
    state.planSlots = plan.slots
    state.planClosedUntil = state.now + plan.closed
    state.budget = plan.budget - floor(state.out / MICRO) - state.pending
    local requests, tokens = state.buckets[#state.buckets - 1], state.buckets[#state.buckets]
    requests.capacity, requests.perHour = plan.requestsCapacity, plan.requestsPerHour
    requests.level = min(requests.level, requests.capacity)
    tokens.capacity, tokens.perHour = plan.tokensCapacity, plan.tokensPerHour
    tokens.level = min(tokens.level, tokens.capacity)
  end
end

local function isClaimed(pool, mine)
  return pool.claimed > mine.claim or pool.sought > mine.seeks
end
`;
