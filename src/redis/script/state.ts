/** Reads the request and the state, and says how a worker is forgotten. An older protocol ends here. */
export const STATE = `
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
`;
