/** Writes the reply, and saves the state. */
export const REPLY = `
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
