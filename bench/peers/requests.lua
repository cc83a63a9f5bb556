-- The requests of wrk, and its figures as one line of JSON. From the environment: PATHS, a file with one path a line, taken in turn;
-- AUTHORIZATION; and for submissions BODY, in which NUMBER stands for what is new in each, and RUN, which begins each idempotency key.
-- One thread alone: each would count for itself.
local paths = {}
for path in io.lines(os.getenv('PATHS')) do paths[#paths + 1] = path end
local run, body, sent = os.getenv('RUN'), os.getenv('BODY'), 0
wrk.headers['Authorization'] = os.getenv('AUTHORIZATION')

function request()
  sent = sent + 1
  local path = paths[sent % #paths + 1]
  if not body then return wrk.format('GET', path) end
  wrk.headers['Content-Type'] = 'application/json'
  wrk.headers['Idempotency-Key'] = run .. '-' .. sent
  return wrk.format('POST', path, nil, (body:gsub('NUMBER', sent)))
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"answers":%d,"seconds":%.3f,"p50_ms":%.3f,"p99_ms":%.3f,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
