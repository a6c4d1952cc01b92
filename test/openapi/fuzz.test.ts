// Requests made from the document, right and wrong ones, to the server that serves it. A failure prints its seed and path:
//   FUZZ_SEED=1 FUZZ_PATH=12:3 npx vitest run test/openapi/fuzz.test.ts      (FUZZ_RUNS for more than 2,500 requests)

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import { readApi } from './api.ts'
import { createKnownIds, exchange } from './exchange.ts'
import { openApp } from './open-app.ts'
import { requestOf } from './request-of.ts'

const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
const numRuns = Number(process.env.FUZZ_RUNS ?? 2_500)
const path = process.env.FUZZ_PATH

test(`no request finds a 5xx, a status or a body that the document does not know (seed ${seed})`, {
  timeout: 60_000 + 50 * numRuns,
}, async () => {
  await using app = await openApp()
  const api = readApi(await (await fetch(`${app.url}/openapi.json`)).json())
  const known = createKnownIds(testAgent.name)
  const asked = fc.oneof(...api.operations.map((operation) => requestOf(operation, api)))
  const property = fc.asyncProperty(asked, async (one) => {
    expect(await exchange(app.url, one, api, known)).toEqual([])
  })
  await fc.assert(property, { seed, numRuns, endOnFailure: true, ...(path === undefined ? {} : { path }) })
})
