/** Reads the request and the state, and defines `forget`. Calls of an older protocol end here. */
export const STATE = `
local HOUR, MICRO = 3600000000, 1000000
local UNCONFIGURED, LONGEST_WAIT = 60000000, 366 * 86400000000
local ACTIVE, RECOVERY, SILENT_TICKS, MOST_REPORTS, CALLS = 100000, 500000, 2, 2000, 64
local RESERVED, LONGEST_CALL, FALL = 2, 400000, 100
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
    slowest = 0, slowestAt = 0,
    buckets = {}, slots = { held = 0, claimed = 0, sought = 0 }, bytes = { held = 0, claimed = 0, sought = 0 },
    closedUntil = 0, throttledUntil = 0, brokenUntil = 0, backoffs = 0, recoveringUntil = 0,
    awaitedUntil = 0, expected = 0, back = 0, roomUntil = 0,
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
-- Redis may have evicted a part. What workers hold can then not be told apart from what is lost.
local count = redis.call('ZCARD', KEYS[3])
local isTorn = not packed or count ~= redis.call('HLEN', KEYS[2])
  or (count == 0 and state.slots.held + state.bytes.held > 0)
if isTorn or time >= (state.expiresAt or math.huge) then state = begin(0) end
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

local function lapse(record)
  if record.epoch == state.epoch then
    for i, bucket in ipairs(state.buckets) do bucket.out = (bucket.out or 0) - (record.unused[i] or 0) end
  end
  state.out = state.out - record.out
  record.out, record.unused = 0, {}
end

local function forget(name)
  local saved = redis.call('HGET', KEYS[2], name)
  if saved then
    local record = cmsgpack.unpack(saved)
    giveUp(state.slots, record.slots)
    giveUp(state.bytes, record.bytes)
    lapse(record)
    if state.terms > 0 then push(name, '0') end
    redis.call('HDEL', KEYS[2], name)
  end
  redis.call('ZREM', KEYS[3], name)
  redis.call('ZREM', KEYS[4], name)
  if state.leader == name then state.leadsUntil = min(state.leadsUntil, state.alive) end
end

if state.protocol > request.protocol then
  return '{"status":"protocol","protocol":' .. num(state.protocol) .. '}'
end
if state.protocol < request.protocol then state = begin(request.protocol) end
`;

/** Refills the buckets, forgets workers that expired, and answers a repeated request. */
export const TIME = `
-- What came back to a bucket in debt may go at once; out of debt it is a part of what it holds.
local function merge(bucket)
  if bucket.level < 0 or bucket.rest == 0 then return end
  bucket.level = max(bucket.level, min(bucket.level + bucket.rest, bucket.capacity))
  bucket.rest = 0
end

local function refill(bucket, elapsed)
  local flow = elapsed * bucket.perHour + bucket.carry
  local whole = floor(flow / HOUR)
  local level = bucket.level + whole
  if level >= bucket.capacity then
    bucket.level = bucket.capacity
    bucket.carry = 0
  else
    bucket.level = level
    bucket.carry = flow - whole * HOUR
  end
  merge(bucket)
end

local function charge(bucket, amount, top)
  bucket.level = min(bucket.level - amount, max(bucket.capacity, top))
  merge(bucket)
end

local function restore(bucket, amount)
  bucket.rest = min(bucket.rest + amount, bucket.capacity)
  merge(bucket)
end

local function leaveRoom(bucket, amount)
  local most = max(0, bucket.capacity - amount)
  bucket.level = min(bucket.level, most)
  bucket.rest = min(bucket.rest, most)
end

-- What workers have not used yet is a part of what the bucket may hold.
local function bound(bucket, following, refund, ahead)
  local large = bucket.large or 0
  bucket.large = max(following, large - ceil(large / CALLS)) + refund
  bucket.level = min(bucket.level, max(bucket.capacity, bucket.large) - max(0, bucket.out - ahead) - bucket.rest)
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
if state.config ~= '' and elapsed >= most then state.awaitedUntil = state.now + state.ttl end
for _, bucket in ipairs(state.buckets) do
  bucket.rest = bucket.rest or 0
  bucket.out = bucket.out or 0
  refill(bucket, elapsed)
end
local alive = num(state.alive)
-- The first write needs no memory: where it is full, Redis refuses no later one of the same script.
local silent = redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', alive)
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', alive)
for _, name in ipairs(silent) do
  local saved = redis.call('HGET', KEYS[2], name)
  if saved then
    local record = cmsgpack.unpack(saved)
    lapse(record)
    redis.call('HSET', KEYS[2], name, cmsgpack.pack(record))
  end
end
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', alive)) do forget(name) end

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

-- Workers come back that went on alone.
local function comesBack(record, hasForgotten)
  local awaitedUntil = state.awaitedUntil or 0
  if request.alone == 1 then
    for _, bucket in ipairs(state.buckets) do bucket.level = min(bucket.level, 0) end
  end
  local isAwaited = request.alone == 1 and state.now < awaitedUntil
  if isAwaited and state.roomUntil ~= awaitedUntil then
    state.roomUntil = awaitedUntil
    state.recoveringUntil = state.now + RECOVERY
    state.expected = 0
    state.back = 0
  end
  if hasForgotten then
    record.backBy = -1
    state.expected = max(state.expected or 0, request.workers or 0)
  end
  local isKnownAgain = record.backBy == -1 and (request.alone == 1 or request.run == state.run)
  if not (isAwaited or isKnownAgain) or record.backBy == state.roomUntil then return end
  record.backBy = state.roomUntil
  state.back = (state.back or 0) + 1
  state.expected = max(state.expected or 0, request.workers or 0)
end

local function hold(pool, mine, amount)
  local more = max(0, amount - mine.held)
  pool.held = pool.held + more
  mine.held = mine.held + more
end

local saved = redis.call('HGET', KEYS[2], worker)
local record = saved and cmsgpack.unpack(saved)
local isNew = not record
if record and record.reply ~= '' and request.sequence <= record.sequence then
  -- It is alive, and holds what it is told again.
  redis.call('ZADD', KEYS[3], num(state.alive + state.ttl), worker)
  if request.alone == 1 then
    comesBack(record, false)
    hold(state.slots, record.slots, request.slots)
    hold(state.bytes, record.bytes, request.bytes)
    redis.call('HSET', KEYS[2], worker, cmsgpack.pack(record))
  end
  save()
  return record.reply
end
if state.config == '' and given == '' then
  save()
  return '{"status":"config","protocol":' .. num(request.protocol) .. '}'
end
local begins = state.run == 0
if begins then
  state.run = max(1, floor(time / 1000))
  if request.run ~= 0 then state.recoveringUntil = state.now + RECOVERY end
end
`;
