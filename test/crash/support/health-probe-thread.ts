// The thread behind `health-probe.ts`.

import { request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

const EVERY_MS = 10

function ask(url: string): Promise<number> {
  const began = performance.now()
  return new Promise((resolve) => {
    const call = request(url, { agent: false, timeout: 60_000 }, (response) => {
      response.resume()
      response.on('close', () => resolve(response.statusCode === 200 ? performance.now() - began : Infinity))
    })
    call.on('timeout', () => call.destroy())
    call.on('error', () => resolve(Infinity))
    call.end()
  })
}

const times: number[] = []
let isRunning = true
parentPort?.once('message', () => {
  isRunning = false
})
while (isRunning) {
  times.push(await ask(`${workerData}/health`))
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
}
parentPort?.postMessage(times)
