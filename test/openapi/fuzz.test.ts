// Valid and invalid requests, generated from the document, to the server that serves it. A failure prints its seed and path:
//   FUZZ_SEED=1 FUZZ_PATH=12:3 npx vitest run test/openapi/fuzz.test.ts      (FUZZ_RUNS for more requests)

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import { runs } from '../tier.ts'
import { readApi } from './api.ts'
import { createKnownIds, exchange } from './exchange.ts'
import { openApp } from './open-app.ts'
import { requestOf } from './request-of.ts'

/** `npm run test:long` tries new requests each time. */
const seed = Number(process.env.FUZZ_SEED ?? (process.env.LONG === '1' ? Date.now() % 2 ** 31 : 20_261_116))
const numRuns = Number(process.env.FUZZ_RUNS ?? runs(800))
const path = process.env.FUZZ_PATH

test(
  `no request finds a 5xx, a status or a body that the document does not know (seed ${seed})`,
  {
    timeout: 120_000 + 100 * numRuns,
  },
  () => fuzz(false, numRuns),
)

test(
  `nor where the agent waits for a person every third time (seed ${seed})`,
  {
    timeout: 120_000 + 100 * numRuns,
  },
  () => fuzz(true, Math.ceil(numRuns / 2)),
)

async function fuzz(asking: boolean, runs: number): Promise<void> {
  await using app = await openApp({ asking })
  const api = readApi(await (await fetch(`${app.url}/openapi.json`)).json())
  const known = createKnownIds(testAgent.name)
  const asked = fc.oneof(...api.operations.map((operation) => requestOf(operation, api)))
  const property = fc.asyncProperty(asked, fc.boolean(), async (one, asOperator) => {
    const headers = asking && asOperator ? { ...one.headers, ...app.asOperator } : one.headers
    expect(await exchange(app.url, { ...one, headers }, api, known)).toEqual([])
  })
  // One that is under way at the end finds the server gone.
  const wake = asking ? setInterval(() => void rejectOldest(app).catch(() => null), 1_000) : undefined
  try {
    await fc.assert(property, { seed, numRuns: runs, endOnFailure: true, ...(path === undefined ? {} : { path }) })
  } finally {
    clearInterval(wake)
  }
}

/** Requests queued behind a run that waits for a person wait with it, so somebody must answer now and then. */
async function rejectOldest({ url, asOperator }: { url: string; asOperator: Record<string, string> }): Promise<void> {
  const headers = { ...asOperator, 'Content-Type': 'application/json' }
  const listed = await fetch(`${url}/approvals?limit=100`, { headers })
  if (!listed.ok) return
  const { approvals }: { approvals: { approval_id: string }[] } = JSON.parse(await listed.text())
  const body = JSON.stringify({ decision: 'reject' })
  for (const { approval_id: id } of approvals) {
    await fetch(`${url}/approvals/${id}`, { method: 'POST', headers, body })
  }
}
