/**
 * The shared store as a script: what `FleetModel` does, statement by statement. It keeps its state in
 * one string, the workers in one hash, two sorted sets of when they expire, and, for the worker that
 * learns, a list of reports and what was learned so far.
 *
 * KEYS: state, workers, leases, active, reports, learned. ARGV: a list as JSON: the request, and as
 * texts, which are not read, its configuration, its plan, what it has learned, and its report. Numbers
 * in answers are printed without exponents, since cjson keeps 14 digits only.
 */
export const SCRIPT = `
local HOUR, MICRO = 3600000000, 1000000
local UNCONFIGURED, LONGEST_WAIT = 60000000, 366 * 86400000000
local RETURNED, ACTIVE, RECOVERY, RESERVED_TICKS, MOST_REPORTS = 10, 100000, 500000, 2, 2000
local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min

local parts = cjson.decode(ARGV[1])
local request, given, planned, learned, report = parts[1], parts[2], parts[3], parts[4], parts[5]
local clock = redis.call('TIME')
local time = clock[1] * 1000000 + clock[2]
if ARGV[2] then time = tonumber(ARGV[2]) end

local function num(n) return string.format('%.0f', n + 0) end
local function list(values)
  local parts = {}
  for i, value in ipairs(values) do parts[i] = num(value) end
  return '[' .. table.concat(parts, ',') .. ']'
end

local function fresh(protocol)
  return {
    protocol = protocol, run = 0, readAt = 0, expiresAt = math.huge, now = 0, alive = 0, config = '', epoch = 0,
    buckets = {}, slots = { held = 0, claimed = 0, sought = 0 }, bytes = { held = 0, claimed = 0, sought = 0 },
    closedUntil = 0, throttledUntil = 0, brokenUntil = 0, backoffs = 0, recoveringUntil = 0,
    leader = '', leadsUntil = 0, terms = 0, plan = '', planSlots = 0, planClosedUntil = 0,
    budget = 0, out = 0, pending = 0, dropped = 0
  }
end

local packed = redis.call('GET', KEYS[1])
local function begin(protocol)
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6])
  return fresh(protocol)
end
local state = packed and cmsgpack.unpack(packed) or fresh(0)
if time >= (state.expiresAt or math.huge) then state = begin(0) end
local worker = request.worker

local function giveUp(pool, mine)
  pool.held = pool.held - mine.held
  pool.claimed = pool.claimed - mine.claim
  pool.sought = pool.sought - mine.seeks
end

local function push(name, text)
  local entry = '[' .. num(state.now) .. ',"' .. name .. '",' .. text .. ']'
  local excess = redis.call('RPUSH', KEYS[5], entry) - MOST_REPORTS
  if excess > 0 then
    redis.call('LTRIM', KEYS[5], excess, -1)
    state.dropped = state.dropped + excess
  end
end

local function forget(name)
  local saved = redis.call('HGET', KEYS[2], name)
  if saved then
    local record = cmsgpack.unpack(saved)
    giveUp(state.slots, record.slots)
    giveUp(state.bytes, record.bytes)
    state.out = state.out - record.out
    if state.terms > 0 then push(name, '0') end
    redis.call('HDEL', KEYS[2], name)
  end
  redis.call('ZREM', KEYS[3], name)
  redis.call('ZREM', KEYS[4], name)
  if state.leader == name then state.leadsUntil = 0 end
end

if state.protocol > request.protocol then
  return '{"status":"protocol","protocol":' .. num(state.protocol) .. '}'
end
if state.protocol < request.protocol then state = begin(request.protocol) end

local function refill(bucket, elapsed)
  local flow = elapsed * bucket.perHour + bucket.carry
  local whole = floor(flow / HOUR)
  local level = bucket.level + whole
  if level >= bucket.capacity then
    bucket.level = max(bucket.level, bucket.capacity)
    bucket.carry = 0
  else
    bucket.level = level
    bucket.carry = flow - whole * HOUR
  end
end

local function charge(bucket, amount)
  local level = bucket.level - amount
  if amount > 0 then bucket.level = level
  else bucket.level = min(level, max(bucket.level, RETURNED * bucket.capacity)) end
end

local function restore(bucket, amount)
  bucket.level = min(bucket.level + amount, max(bucket.level, bucket.capacity))
end

local function flowTime(bucket, amount)
  return ceil((amount * HOUR) / bucket.perHour) + 0
end

-- Time passes.
local elapsed = 0
if state.run ~= 0 then elapsed = max(0, time - state.readAt) end
state.readAt = time
state.now = state.now + elapsed
local most = elapsed
if state.config ~= '' then most = floor(state.ttl / 2) end
state.alive = state.alive + min(elapsed, most)
for _, bucket in ipairs(state.buckets) do refill(bucket, elapsed) end
local alive = num(state.alive)
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', alive)) do forget(name) end
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', alive)

-- How long all of it is kept when nobody calls any more.
local function keepsFor()
  if state.config == '' then return UNCONFIGURED end
  local now = state.now
  local wait = max(0, state.closedUntil - now, state.throttledUntil - now, state.brokenUntil - now)
  for i = 1, #state.buckets - 2 do
    local bucket = state.buckets[i]
    if bucket.level < 0 then wait = max(wait, flowTime(bucket, -bucket.level)) end
  end
  return state.keep + min(wait, LONGEST_WAIT)
end

local function save()
  local keep = keepsFor()
  state.expiresAt = time + keep
  local keepMs = num(ceil(keep / 1000))
  redis.call('SET', KEYS[1], cmsgpack.pack(state), 'PX', keepMs)
  for i = 2, #KEYS do redis.call('PEXPIRE', KEYS[i], keepMs) end
end

local saved = redis.call('HGET', KEYS[2], worker)
local record = saved and cmsgpack.unpack(saved)
local isNew = not record
if record and record.reply ~= '' and request.sequence <= record.sequence then
  -- It is alive, and holds what it is told again.
  redis.call('ZADD', KEYS[3], num(state.alive + state.ttl), worker)
  save()
  return record.reply
end
if state.config == '' and given == '' then
  save()
  return '{"status":"config","protocol":' .. num(request.protocol) .. '}'
end
if state.run == 0 then
  state.run = max(1, floor(time / 1000))
  if request.run ~= 0 then state.recoveringUntil = state.now + RECOVERY end
end

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
local knows = given ~= '' or (request.run == state.run and request.epoch == state.epoch)
record = record or {
  sequence = 0, sent = 0, reply = '', slots = { held = 0, claim = 0, seeks = 0 }, bytes = { held = 0, claim = 0, seeks = 0 },
  out = 0
}
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

-- Whether it sends or waits.
local isActive = request.wantedSlots > 0 or request.wantedBytes > 0
  or (request.slots > 0 and isClaimed(state.slots, record.slots))
  or (request.bytes > 0 and isClaimed(state.bytes, record.bytes))
for _, amount in ipairs(request.unused) do isActive = isActive or amount > 0 end
if knows then
  for _, demand in ipairs(request.demand) do isActive = isActive or demand.spare == 0 end
end
if isActive then redis.call('ZADD', KEYS[4], num(state.alive + ACTIVE), worker)
else redis.call('ZREM', KEYS[4], worker) end
local active = redis.call('ZCARD', KEYS[4])
local sharers = max(1, active)

local closed = max(0, state.closedUntil - state.now)
local held = max(0, state.planClosedUntil - state.now)
local broken = max(0, state.brokenUntil - state.now)
local isRecovering = state.recoveringUntil > state.now
local isClosed = not knows or request.leaves == 1 or closed > 0 or held > 0 or broken > 0

local function lend(pool, mine, wantHeld, wanted, head, spare, size, isOverdrawn, isShut)
  local hadClaim = mine.claim > 0
  pool.held = pool.held - mine.held + wantHeld
  pool.claimed = pool.claimed - mine.claim
  pool.sought = pool.sought - mine.seeks
  local whole, top = floor(size / sharers), ceil(size / sharers)
  local share = max(1, whole)
  local free = isShut and 0 or max(0, size - pool.held)
  local unclaimed = max(0, free - pool.claimed)
  local unsought = max(0, unclaimed - pool.sought)
  local due = (whole > 0 or hadClaim) and free or unclaimed
  local below = min(due, max(0, share - wantHeld))
  local granted = min(max(below, min(unclaimed, max(0, top - wantHeld)), unsought), wanted)
  if granted < head then
    local isAllowed
    if isOverdrawn then isAllowed = not isShut and wantHeld == 0 and pool.held <= size
    else isAllowed = head > 1 and free >= head end
    granted = isAllowed and head or 0
  end
  local isShort = granted < wanted
  if not isShort then
    granted = granted + min(spare, max(0, floor((unsought - granted) / sharers)))
  end
  mine.held = wantHeld + granted
  pool.held = pool.held + granted
  local missing = wanted - granted
  local forHead = head > 1 and head - granted or 0
  mine.claim = isShort and min(missing, max(0, share - mine.held, forHead)) or 0
  mine.seeks = isShort and min(missing - mine.claim, max(0, top - mine.held - mine.claim)) or 0
  local claimed, sought = pool.claimed, pool.sought
  pool.claimed = claimed + mine.claim
  pool.sought = sought + mine.seeks
  local kept = mine.held
  if claimed > 0 then kept = min(kept, max(whole, granted, mine.held - claimed)) end
  if sought > 0 then kept = min(kept, max(top, granted, mine.held - sought)) end
  local excess = pool.held - size
  if excess > 0 and not isOverdrawn then kept = min(kept, max(share, granted, mine.held - excess)) end
  return kept, isShort, claimed + sought > 0
end

local size = state.most.slots
local planSlots = state.plan == '' and state.most.start or state.planSlots
if planSlots > 0 then size = min(planSlots, size) end
local keptSlots, slotsShort, isContested = lend(state.slots, record.slots, request.slots,
  request.wantedSlots, request.headSlots, request.spareSlots, size, false,
  isClosed or isRecovering)
local keptBytes, bytesShort = lend(state.bytes, record.bytes, request.bytes,
  request.wantedBytes, request.headBytes, 0, state.most.bytes, true, isClosed or isRecovering)

-- Rates.
local buckets, places = state.buckets, #state.buckets
local limits = places - 2
local amounts, count, short, from, till = {}, 0, -1, 0, 0
for place = 1, places do amounts[place] = 0 end
local function costAt(demand, place)
  if place <= limits then return demand.costs[place] or 0 end
  if place == limits + 1 then return MICRO end
  return demand.tokens
end
local function covers(demand)
  for place = 1, places do
    if buckets[place].perHour ~= 0 and (request.unused[place] or 0) < costAt(demand, place) then
      return false
    end
  end
  return true
end
if not isClosed then
  local reach, spare = {}, {}
  for place, bucket in ipairs(buckets) do
    local reserved = floor((bucket.perHour * RESERVED_TICKS * state.tick) / HOUR / sharers)
    reach[place] = max(0, bucket.level) + max(0, reserved - (request.unused[place] or 0))
    spare[place] = floor(max(0, bucket.level) / sharers)
  end
  local part = max(min(1, state.budget), floor(state.budget / sharers))
  local budget = buckets[limits + 1].perHour ~= 0 and max(0, part) or math.huge
  for _, demand in ipairs(request.demand) do
    local fitting, binding = demand.count, -1
    local rooms = demand.spare == 1 and spare or reach
    for place = 1, places do
      local cost = costAt(demand, place)
      if cost ~= 0 and buckets[place].perHour ~= 0 then
        local fits = max(0, floor((rooms[place] - amounts[place]) / cost))
        if fits < fitting then fitting, binding = fits, place - 1 end
      end
    end
    if fitting == 0 and count == 0 and demand.spare == 0 and not covers(demand) then
      fitting = min(1, demand.count)
    end
    if budget - count < fitting then fitting, binding = budget - count, limits end
    for place = 1, places do
      if buckets[place].perHour ~= 0 then
        amounts[place] = amounts[place] + fitting * costAt(demand, place)
      end
    end
    count = count + fitting
    if fitting < demand.count then
      if demand.spare == 0 then short = binding end
      break
    end
  end
  local isFirst = true
  for place, bucket in ipairs(buckets) do
    local amount = amounts[place]
    if amount ~= 0 then
      local first = flowTime(bucket, -bucket.level)
      local last = flowTime(bucket, amount - bucket.level)
      from = isFirst and first or max(from, first)
      till = isFirst and last or max(till, last)
      isFirst = false
      charge(bucket, amount)
    end
  end
end

local granted = amounts[limits + 1]
state.budget = state.budget - floor(granted / MICRO)
state.out = state.out + granted
record.out = record.out + granted
if leads then state.pending = 0 end

local why = ''
if broken > 0 then why = 'broken'
elseif closed > 0 then why = 'closed'
elseif held > 0 then why = 'learned'
elseif slotsShort then why = isRecovering and 'recovering' or 'slots'
elseif bytesShort then why = isRecovering and 'recovering' or 'bytes'
elseif short >= 0 then why = short < limits and 'limit' or 'learned' end

if isActive and till > 0 then
  redis.call('ZADD', KEYS[4], num(state.alive + ACTIVE + till), worker)
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
field('from', from)
field('until', till)
field('slots', record.slots.held)
field('bytes', record.bytes.held)
field('keptSlots', keptSlots)
field('keptBytes', keptBytes)
field('contested', isContested and 1 or 0)
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
