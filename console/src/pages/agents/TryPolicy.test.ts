import { expect, test } from 'vitest'
import { type PolicyForm, policyRequest } from './TryPolicy.tsx'

const form: PolicyForm = {
  ...{ place: 'workspace', workspace: ' /srv/shop ', session: 's1', tool: 'Bash' },
  ...{ path: '', command: ' npm test ', risk: 'high' },
}

test('a request names either a workspace or a session', () => {
  expect(policyRequest(form)).toEqual({
    ...{ workspace: '/srv/shop', tool_name: 'Bash', command: ' npm test ', risk_level: 'high' },
  })
  expect(policyRequest({ ...form, place: 'session', command: '', path: 'a.ts' })).toEqual({
    ...{ session_id: 's1', tool_name: 'Bash', file_path: 'a.ts', risk_level: 'high' },
  })
})

test('without a place or a tool there is no request', () => {
  expect(policyRequest({ ...form, workspace: ' ' })).toBe(null)
  expect(policyRequest({ ...form, tool: '' })).toBe(null)
})
