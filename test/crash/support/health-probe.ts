import { Worker } from 'node:worker_threads'

export interface HealthProbe {
  /** Milliseconds of every answer; Infinity for one that did not come or was not "healthy". */
  stop(): Promise<number[]>
}

/** Keeps asking for a server's health on its own thread, so that the work of the test itself does not count. */
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
