/** Grants requests of the rate limits, and of the rate that the leader has planned. */
export const RATES = `
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
`;
