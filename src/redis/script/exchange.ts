/** Applies the worker's configuration, observations and report, and its plan if it leads. */
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
    bucket.rest = min(bucket.rest, limit.capacity)
    return bucket
  end
  for i, limit in ipairs(config.limits) do
    local bucket = kept[limit.name]
    if bucket then buckets[i] = resized(bucket, limit)
    else
      buckets[i] = {
        name = limit.name, capacity = limit.capacity, perHour = limit.perHour, level = 0, rest = 0, carry = 0
      }
    end
  end
  local places = #buckets
  for i = 1, 2 do
    buckets[places + i] = count >= 2 and state.buckets[count - 2 + i]
      or { capacity = 0, perHour = 0, level = 0, rest = 0, carry = 0 }
  end
  state.buckets = buckets
  for _, bucket in ipairs(buckets) do bucket.out = 0 end
  state.config = given
  state.ttl, state.keep, state.tick = config.ttl, config.keep, config.tick
  state.most = { slots = config.slots, bytes = config.bytes, start = config.startSlots }
  state.epoch = state.epoch + 1
end
if begins then state.roomUntil = state.now + state.ttl end
local knows = given ~= '' or (request.run == state.run and request.epoch == state.epoch)
record = record or {
  sequence = 0, sent = 0, reply = '', slots = { held = 0, claim = 0, seeks = 0 }, bytes = { held = 0, claim = 0, seeks = 0 },
  out = 0, unused = {}, epoch = 0, backBy = 0
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

-- What its calls take.
local slowestBefore = (state.slowest or 0) - floor((state.now - (state.slowestAt or state.now)) / FALL)
state.slowest = max(slowestBefore, min(request.took or 0, LONGEST_CALL))
state.slowestAt = state.now

local function costAt(demand, place)
  local limits = #state.buckets - 2
  if place <= limits then return demand.costs[place] or 0 end
  if place == limits + 1 then return MICRO end
  return demand.tokens
end
if knows then
  local following
  for i = #request.demand, 1, -1 do
    if request.demand[i].spare ~= 1 then following = request.demand[i] end
  end
  local before = record.epoch == state.epoch and record.unused or {}
  record.unused, record.epoch = {}, state.epoch
  for i, bucket in ipairs(state.buckets) do
    record.unused[i] = request.unused[i] or 0
    bucket.out = bucket.out + record.unused[i] - (before[i] or 0)
    if bucket.perHour > 0 then
      local unused = request.returned[i] or 0
      if unused > 0 then restore(bucket, unused) end
      if request.keeps == 1 then leaveRoom(bucket, request.unused[i] or 0) end
      local cost = following and costAt(following, i) or 0
      local amount = request.settled[i] or 0
      if state.plan ~= '' then
        local ahead = floor((bucket.perHour * RESERVED * state.slowest) / HOUR)
        bound(bucket, cost, max(0, -amount), ahead)
      end
      if amount ~= 0 then charge(bucket, amount, cost) end
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
  if state.leader == worker then state.leadsUntil = min(state.leadsUntil, state.alive) end
  -- Workers that learn ask for the lead with each call: there is none any more to renew the plan.
  if state.plan ~= '' and state.alive - state.leadsUntil >= state.ttl then
    state.plan, state.planSlots, state.planClosedUntil = '', 0, 0
    redis.call('DEL', KEYS[6])
    for place = #state.buckets - 1, #state.buckets do
      local bucket = state.buckets[place]
      bucket.capacity, bucket.perHour, bucket.level, bucket.rest = 0, 0, min(bucket.level, 0), 0
    end
  end
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
    requests.rest = min(requests.rest, requests.capacity)
    tokens.capacity, tokens.perHour = plan.tokensCapacity, plan.tokensPerHour
    tokens.level = min(tokens.level, tokens.capacity)
    tokens.rest = min(tokens.rest, tokens.capacity)
  end
end

local function isClaimed(pool, mine)
  return pool.claimed > mine.claim or pool.sought > mine.seeks
end
`;

/** Writes the reply, and saves the state. */
export const REPLY = `
local granted = amounts[limits + 1]
state.budget = state.budget - floor(granted / MICRO)
state.out = state.out + granted
record.out = record.out + granted
if knows then
  for i, bucket in ipairs(buckets) do
    record.unused[i] = record.unused[i] + amounts[i]
    bucket.out = bucket.out + amounts[i]
  end
end
if leads then state.pending = 0 end

local why = ''
if broken > 0 then why = 'broken'
elseif closed > 0 then why = 'closed'
elseif held > 0 then why = 'learned'
elseif slotsShort then why = isRecovering and 'recovering' or 'slots'
elseif bytesShort then why = isRecovering and 'recovering' or 'bytes'
elseif short >= 0 then why = short < limits and 'limit' or 'learned' end

local latest = max(unpack(till))
if isActive and latest > 0 then
  redis.call('ZADD', KEYS[4], num(state.alive + ACTIVE + latest), worker)
end
local parts = {
  '{"status":"ok","sequence":', num(request.sequence), ',"now":', num(state.now),
  ',"run":', num(state.run),
  ',"epoch":', num(state.epoch)
}
local function add(text) parts[#parts + 1] = text end
if request.epoch ~= state.epoch or request.run ~= state.run then
  add(',"config":')
  add(state.config)
end
local function field(name, value)
  add(',"' .. name .. '":')
  add(num(value))
end
field('count', count)
add(',"amounts":')
add(list(amounts))
add(',"from":')
add(list(from))
add(',"until":')
add(list(till))
field('slots', record.slots.held)
field('bytes', record.bytes.held)
field('keptSlots', keptSlots)
field('keptBytes', keptBytes)
field('contested', isContested and 1 or 0)
field('slowest', state.slowest)
add(',"why":"' .. why .. '"')
field('limit', short)
field('closed', closed)
field('held', held)
field('throttled', max(0, state.throttledUntil - state.now))
field('broken', broken)
field('backoffs', state.backoffs)
field('workers', redis.call('ZCARD', KEYS[3]))
field('sharers', active)
field('lost', isNew and request.sequence > 1 and request.run == state.run and 1 or 0)
field('leads', leads and 1 or 0)
field('terms', state.terms)
field('lastReport', state.dropped + redis.call('LLEN', KEYS[5]))
if state.plan ~= '' then
  add(',"plan":')
  add(state.plan)
end
if leads then
  local reports = redis.call('LRANGE', KEYS[5], 0, -1)
  if #reports > 0 then
    add(',"reports":[')
    add(table.concat(reports, ','))
    add(']')
  end
  local kept = request.term ~= state.terms and redis.call('GET', KEYS[6])
  if kept then
    add(',"learned":')
    add(kept)
  end
end
add('}')
local reply = table.concat(parts)
record.sequence = request.sequence
record.sent = request.sent or 0
record.reply = reply
if request.leaves == 1 then
  redis.call('HSET', KEYS[2], worker, cmsgpack.pack(record))
  forget(worker)
else
  redis.call('HSET', KEYS[2], worker, cmsgpack.pack(record))
end
save()
return reply
`;
