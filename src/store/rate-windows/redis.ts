// Shared rate-limit windows in Redis: one hash of counts by second per name, changed by one script and timed by Redis's
// clock.

import type { Redis } from "ioredis";
import {
  AHEAD_SECONDS_MAX,
  type CallWindows,
  type RateRequest,
  type SecondCount,
  type Taken,
} from "../../core/processes/call-window.ts";

export interface RedisOptions {
  readonly onError: (error: Error) => void;
}

/** Longer than callers wait, to find a dead connection. */
const SILENCE_MS_MAX = 5_000;
/** Longest time to connect. Redis is near, so a longer one means trouble. */
const CONNECT_MS_MAX = 1_000;
const RECONNECT_MS_MAX = 2_000;

/** Opens the windows, even if Redis is away: the client retries, and until then every call fails at once. */
export async function openRedisWindows(url: string, options: RedisOptions): Promise<CallWindows> {
  // Loaded only if configured, like PostgreSQL's client.
  const { Redis } = await import("ioredis");
  const redis = new Redis(url, {
    connectionName: "switchyard",
    lazyConnect: true,
    connectTimeout: CONNECT_MS_MAX,
    commandTimeout: SILENCE_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(times * 100, RECONNECT_MS_MAX),
  });
  redis.on("error", options.onError);
  // Failures arrive as errors; the client reconnects by itself.
  await redis.connect().catch(() => undefined);
  return {
    take: (requests) => Promise.all(requests.map((request) => run(redis, request))),
    async close() {
      redis.disconnect();
    },
  };
}

async function run(redis: Redis, { id, limit, spanSeconds, count, unused }: RateRequest): Promise<Taken> {
  const values = [limit, count, spanSeconds, AHEAD_SECONDS_MAX, unused?.second ?? -1, unused?.count ?? 0];
  const answer = (await redis.eval(SCRIPT, 1, `switchyard:calls:${id}`, ...values)) as readonly number[];
  const [second = 0, ms = 0, granted = 0, ...flat] = answer;
  const counts = flat.flatMap((value, index): SecondCount[] =>
    index % 2 === 0 ? [[value, flat[index + 1] ?? 0]] : [],
  );
  return { second, ms, granted, counts: counts.sort(([a], [b]) => a - b) };
}

/** Script that does the same as `takeFrom` for one name, so that a cluster can keep each name on its node. */
const SCRIPT = `
local limit, wanted, span, ahead = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local unusedSecond, unused = tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local now, ms = tonumber(time[1]), math.floor(tonumber(time[2]) / 1000)
local stored = redis.call('HGETALL', KEYS[1])
local total, counts, isNew = 0, {}, true
for i = 1, #stored, 2 do
  local second, count = tonumber(stored[i]), tonumber(stored[i + 1])
  local left = count
  if second <= now - span or second > now + ahead then left = 0 end
  if second == unusedSecond then left = math.max(0, left - unused) end
  if left == 0 then redis.call('HDEL', KEYS[1], stored[i])
  elseif left ~= count then redis.call('HSET', KEYS[1], stored[i], left) end
  if left > 0 then
    total = total + left
    counts[#counts + 1] = second
    counts[#counts + 1] = left
  end
end
local granted = math.max(0, math.min(wanted, limit - total))
if granted > 0 then
  for i = 1, #counts, 2 do
    if counts[i] == now then
      counts[i + 1] = counts[i + 1] + granted
      isNew = false
    end
  end
  if isNew then
    counts[#counts + 1] = now
    counts[#counts + 1] = granted
  end
  redis.call('HINCRBY', KEYS[1], now, granted)
  redis.call('EXPIRE', KEYS[1], span + ahead)
end
local answer = { now, ms, granted }
for i = 1, #counts do answer[#answer + 1] = counts[i] end
return answer
`;
