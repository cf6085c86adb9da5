/** Lends slots and bytes, each worker its share. */
export const LEND = `
-- Whether it sends or waits.
local isActive = request.wantedSlots > 0 or request.wantedBytes > 0
  or (request.slots > 0 and isClaimed(state.slots, record.slots))
  or (request.bytes > 0 and isClaimed(state.bytes, record.bytes))
for _, amount in ipairs(request.unused) do isActive = isActive or amount > 0 end
if knows then
  for _, demand in ipairs(request.demand) do isActive = isActive or demand.spare ~= 1 end
end
-- A worker that waits calls less often while nothing can be granted.
if isActive then redis.call('ZADD', KEYS[4], num(state.alive + ACTIVE + floor(state.ttl / 4)), worker)
else redis.call('ZREM', KEYS[4], worker) end
local active = redis.call('ZCARD', KEYS[4])
local sharers = max(1, active)

local closed = max(0, state.closedUntil - state.now)
local held = max(0, state.planClosedUntil - state.now)
-- If the leader is gone before its first plan, few requests are sent until another one leads.
local leadsFor = state.leadsUntil - state.alive
if state.plan == '' and state.most.start > 0 and state.pending >= 2 * state.most.start
  and leadsFor <= state.ttl - SILENT_TICKS * state.tick then held = max(held, leadsFor) end
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
    if isOverdrawn then isAllowed = not isShut and wantHeld < share and pool.held <= size
    else isAllowed = head > 1 and (hadClaim and free or unclaimed) >= head end
    granted = isAllowed and head or 0
  end
  local isShort = granted < wanted
  if not isShort then
    granted = granted + min(spare, max(0, floor((unsought - granted) / sharers)))
  end
  mine.held = wantHeld + granted
  pool.held = pool.held + granted
  local missing = wanted - granted
  local forHead = head > 1 and wantHeld < share and head - granted or 0
  mine.claim = isShort and min(missing, max(0, share - mine.held, forHead)) or 0
  mine.seeks = isShort and min(missing - mine.claim, max(0, top - mine.held - mine.claim)) or 0
  local claimed, sought = pool.claimed, pool.sought
  pool.claimed = claimed + mine.claim
  pool.sought = sought + mine.seeks
  local kept = mine.held
  local needed = head > 0 and granted >= head and wantHeld + head or granted
  if claimed > 0 then kept = min(kept, max(whole, needed, mine.held - claimed)) end
  if sought > 0 then kept = min(kept, max(top, needed, mine.held - sought)) end
  local excess = pool.held - size
  if excess > 0 and not isOverdrawn then kept = min(kept, max(whole, needed, mine.held - excess)) end
  return kept, isShort, claimed + sought > 0
end

-- Workers that may use their shares, and have not called since the store forgot.
local missing = 0
if state.now < (state.roomUntil or 0) then missing = max(0, (state.expected or 0) - (state.back or 0)) end
local function lendable(size)
  if missing == 0 then return size end
  return size - floor((size * missing) / state.expected)
end

local size = state.most.slots
local planSlots = state.plan == '' and state.most.start or state.planSlots
if planSlots > 0 then size = min(planSlots, size) end
size = lendable(size)
local keptSlots, slotsShort, isContested = lend(state.slots, record.slots, request.slots,
  request.wantedSlots, request.headSlots, request.spareSlots, size, false,
  isClosed or isRecovering)
-- Without slots for its first request, a worker would hold bytes for it that others wait for.
local headBytes = record.slots.held - request.slots < request.headSlots and 0 or request.headBytes
local keptBytes, bytesShort = lend(state.bytes, record.bytes, request.bytes,
  request.wantedBytes, headBytes, 0, lendable(state.most.bytes), true, isClosed or isRecovering)
`;

/** Grants requests within the rate limits and the rate that the leader has planned. */
export const RATES = `
-- Rates.
local buckets, places = state.buckets, #state.buckets
local limits = places - 2
local amounts, from, till, count, short = {}, {}, {}, 0, -1
for place = 1, places do amounts[place], from[place], till[place] = 0, 0, 0 end
local function covers(demand)
  for place = 1, places do
    if buckets[place].perHour ~= 0 and (request.unused[place] or 0) < costAt(demand, place) then
      return false
    end
  end
  return true
end
-- What may go at once of a bucket.
local function ready(bucket)
  if bucket.level < 0 then return bucket.rest end
  return bucket.level
end
-- Whether one of these may go at once, because something came back to a bucket in debt.
local function isOfRest(demand)
  local isInDebt = false
  for place, bucket in ipairs(buckets) do
    local cost = costAt(demand, place)
    if cost ~= 0 and bucket.perHour ~= 0 then
      if ready(bucket) < cost then return false end
      if bucket.level < 0 then isInDebt = true end
    end
  end
  return isInDebt
end
-- Without slots and bytes for its first request it would return a grant unused. With the bytes that
-- this request lacked it is sent, even if others wait for its slots.
local isComplete = headBytes > 0 and record.bytes.held - request.bytes >= headBytes
local lacks = request.keeps ~= 1 and not isComplete
  and (keptSlots < max(1, request.headSlots) or keptBytes < request.headBytes)
-- For how long a worker may reserve: the same for all, whatever their calls take.
local within = RESERVED * (state.tick + state.slowest)
if not isClosed and not lacks then
  local reach, spare, atOnce = {}, {}, {}
  for place, bucket in ipairs(buckets) do
    local reserved = floor((bucket.perHour * within) / HOUR / sharers)
    reach[place] = max(0, bucket.level) + max(0, reserved - (request.unused[place] or 0))
    spare[place] = floor(max(0, bucket.level) / sharers)
    atOnce[place] = ready(bucket)
  end
  local head = request.demand[1]
  local usesRest = head and head.spare == 0 and isOfRest(head)
  local part = max(min(1, state.budget), floor(state.budget / sharers))
  local budget = buckets[limits + 1].perHour ~= 0 and max(0, part) or math.huge
  for _, demand in ipairs(request.demand) do
    local fitting, binding, latest = demand.count, -1, math.huge
    local rooms = demand.spare == 1 and spare or (usesRest and atOnce or reach)
    for place = 1, places do
      local cost = costAt(demand, place)
      if cost ~= 0 and buckets[place].perHour ~= 0 then
        local fits = max(0, floor((rooms[place] - amounts[place]) / cost))
        if fits <= fitting then
          -- Of limits that let the same number pass, the one is short that opens last.
          local opensIn = flowTime(buckets[place], amounts[place] + (fits + 1) * cost - buckets[place].level)
          if fits < fitting or opensIn > latest then
            fitting, binding, latest = fits, place - 1, opensIn
          end
        end
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
      if demand.spare ~= 1 then short = binding end
      break
    end
  end
  for place, bucket in ipairs(buckets) do
    local amount = amounts[place]
    if amount ~= 0 then
      local level = usesRest and atOnce[place] or bucket.level
      from[place] = flowTime(bucket, -level)
      till[place] = flowTime(bucket, amount - level)
      if not usesRest then charge(bucket, amount, 0)
      elseif bucket.level < 0 then bucket.rest = bucket.rest - amount
      else bucket.level = bucket.level - amount end
    end
  end
end
`;
