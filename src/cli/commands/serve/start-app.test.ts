import { expect, test } from 'vitest'
import { createManualClock } from '../../../models/testing/manual-clock.ts'
import { giveMemoryBack } from './start-app.ts'

const MB = 1024 * 1024

/** A server that keeps `kept` bytes after a collection. */
function openServer(kept = 50 * MB) {
  const clock = createManualClock()
  const server = { resident: 100 * MB, activeRuns: 0, runsStarted: 0, connections: 0, collections: 0, clock }
  const stop = giveMemoryBack({
    clock,
    traffic: () => server,
    residentBytes: () => server.resident,
    collect() {
      server.collections += 1
      server.resident = kept
    },
  })
  return Object.assign(server, { stop })
}

test('collects what the start left behind, once', async () => {
  const server = openServer()

  await server.clock.advance(60_000)

  expect([server.collections, server.resident]).toEqual([1, 50 * MB])
})

test('collects nothing while runs are active, or come and go', async () => {
  const server = openServer()
  server.activeRuns = 1
  await server.clock.advance(10_000)
  server.activeRuns = 0
  for (let second = 0; second < 10; second += 1) {
    server.runsStarted += 1
    await server.clock.advance(1_000)
  }

  expect(server.collections).toBe(0)

  await server.clock.advance(2_000)
  expect(server.collections).toBe(1)
})

test('also collects after readers that leave long after their run', async () => {
  const server = openServer()
  await server.clock.advance(10_000)
  server.runsStarted = 1
  server.connections = 1_000
  server.resident = 200 * MB
  await server.clock.advance(20_000)
  expect(server.collections).toBe(2)

  // They are dropped, a few at a time.
  server.resident = 300 * MB
  for (const connections of [600, 200, 0]) {
    server.connections = connections
    await server.clock.advance(5_000)
  }
  expect(server.collections).toBe(2)
  await server.clock.advance(5_000)
  expect([server.collections, server.resident]).toEqual([3, 50 * MB])
})

test('also collects when agents elsewhere have come and wait, and no run ever was', async () => {
  const server = openServer()
  await server.clock.advance(60_000)
  server.resident = 300 * MB
  for (const connections of [300, 600, 1_000]) {
    server.connections = connections
    await server.clock.advance(5_000)
  }
  expect(server.collections).toBe(1)

  await server.clock.advance(5_000)
  expect([server.collections, server.resident]).toEqual([2, 50 * MB])
})

test('a short pause between runs is not enough', async () => {
  const server = openServer()
  await server.clock.advance(10_000)
  server.resident = 100 * MB
  for (let pause = 0; pause < 5; pause += 1) {
    server.runsStarted += 1
    await server.clock.advance(5_000)
  }

  expect(server.collections).toBe(1)
})

test('collects after a burst that left something behind, and not after one that did not', async () => {
  const server = openServer()
  await server.clock.advance(10_000)

  server.runsStarted += 1
  server.resident += 1 * MB
  await server.clock.advance(10_000)
  expect(server.collections).toBe(1)

  server.runsStarted += 1_000
  server.resident += 100 * MB
  await server.clock.advance(10_000)
  expect(server.collections).toBe(2)
})

test('does not try again what could not be given back', async () => {
  const server = openServer(100 * MB)
  for (let burst = 0; burst < 5; burst += 1) {
    server.runsStarted += 1
    await server.clock.advance(10_000)
  }

  expect(server.collections).toBe(1)
})

test('stops with the server', async () => {
  const server = openServer()

  server.stop()
  await server.clock.advance(10_000)

  expect([server.collections, server.clock.pending]).toEqual([0, 0])
})
