import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Metrics } from './metrics.ts'

const QUANTILES = [0.5, 0.99, 1]
const RESOLUTION_MS = 20

/** Memory and event-loop delay of this process. The returned function stops the measurement. */
export function registerProcessMetrics(metrics: Metrics): () => void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  metrics.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  metrics.gauge('nodejs_heap_used_bytes', 'Used heap.', () => process.memoryUsage().heapUsed)
  metrics.gauge('nodejs_eventloop_delay_seconds', 'Event-loop delay since the last scrape.', () => {
    const samples = QUANTILES.map((quantile) => ({
      labels: { quantile: String(quantile) },
      // Node measures from tick to tick, so an idle loop shows the resolution.
      value: Math.max(0, delay.percentile(quantile * 100) / 1e9 - RESOLUTION_MS / 1000),
    }))
    delay.reset()
    return samples
  })
  return () => void delay.disable()
}
