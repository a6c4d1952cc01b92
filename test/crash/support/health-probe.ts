import { Worker } from 'node:worker_threads'

export interface HealthProbe {
  /** Milliseconds of every answer; Infinity for one that did not come or was not "healthy". */
  stop(): Promise<number[]>
}

/** Asks for a server's health all the time, on a thread of its own: what the test itself is busy with does not count. */
export function probeHealth(url: string): HealthProbe {
  const worker = new Worker(new URL('./health-probe-thread.ts', import.meta.url), { workerData: url })
  const { promise: times, resolve, reject } = Promise.withResolvers<number[]>()
  worker.once('message', resolve)
  worker.once('error', reject)
  return {
    async stop() {
      worker.postMessage('stop')
      const found = await times
      await worker.terminate()
      return found
    },
  }
}
