import { expect, test } from 'vitest'
import type { Reply, Request, Route } from '../../route.ts'
import { guardDecisions } from './guard-decisions.ts'

const request = {} as Request
const reply = {} as Reply

test.each<[Route['method'], string, Route['role'], boolean]>([
  ['GET', '/approvals/:id', 'user', false],
  ['POST', '/approvals/:id', 'user', true],
  ['POST', '/prompts/:id', 'operator', true],
  ['POST', '/checkpoints/:id/restore', 'operator', true],
  ['POST', '/sessions/:id/handover', 'operator', true],
  ['POST', '/sessions/:id/resume', 'operator', true],
  ['POST', '/tokens', 'operator', true],
  ['DELETE', '/tokens/:id', 'operator', true],
  ['POST', '/a/route/that/is/added/later', 'operator', true],
  ['POST', '/sessions/:id/pause', 'operator', false],
  ['POST', '/sessions/:id/steer', 'operator', false],
  ['POST', '/knowledge/search', 'operator', false],
  ['POST', '/knowledge/:id/update', 'operator', false],
  ['DELETE', '/knowledge/:id', 'operator', true],
  ['POST', '/mcp', 'agent', false],
])('%s %s for the role %s asks for the passphrase: %s', async (method, path, role, asks) => {
  const seen: string[] = []
  const handle = async () => void seen.push('handled')
  const route: Route = { method, path, role, door: null, body: 'none', summary: '', handle }
  const [guarded] = guardDecisions([route], async () => void seen.push('asked'))
  await guarded?.handle(request, reply)

  expect(seen).toEqual(asks ? ['asked', 'handled'] : ['handled'])
})

test('what would be refused anyway is refused before the passphrase is asked for', async () => {
  const seen: string[] = []
  let isRefused = true
  const route: Route = {
    method: 'POST',
    path: '/sessions',
    role: 'operator',
    door: null,
    body: 'control',
    summary: '',
    async check() {
      seen.push('checked')
      if (isRefused) throw new Error('There is no such workspace.')
    },
    handle: async () => void seen.push('handled'),
  }
  const [guarded] = guardDecisions([route], async () => void seen.push('asked'))

  await expect(guarded?.handle(request, reply)).rejects.toThrow('no such workspace')
  expect(seen.splice(0)).toEqual(['checked'])
  isRefused = false
  await guarded?.handle(request, reply)
  expect(seen).toEqual(['checked', 'asked', 'handled'])
})
