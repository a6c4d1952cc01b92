import { expect, test } from 'vitest'
import { testAgent } from '../engine/testing/open-engine.ts'
import { serverSecrets } from './server-secrets.ts'

test('the keys of models that are only tried are secrets too', () => {
  const settings = { auth: { token: null, operatorToken: null }, store: 'sqlite', telemetry: null } as never
  const tried = [{ ...testAgent.model, apiKey: 'key-of-another-provider' }]
  expect(serverSecrets({ settings, agents: [{ ...testAgent, tried }] })).toEqual(['key-of-another-provider'])
})
