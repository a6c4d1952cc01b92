// Every door that can decide asks for a passkey where one is needed.

import { describe, expect, test } from 'vitest'
import { outline } from '../engine/testing/open-engine.ts'
import { openProofs } from '../http/auth/console/testing/open-proofs.ts'
import { proofPurpose } from '../supervision/approvals/decide.ts'
import { asOperator, eventsOf } from './testing/open-doors.ts'
import { calls, interruptsOf, openGatedDoors, says } from './testing/open-gated-doors.ts'
import { readSse } from './testing/sse-reader.ts'

type Headers = Record<string, string>

const input = (more: object = {}) => ({
  ...{ threadId: 'thread', runId: 'run-1', messages: [{ id: 'm1', role: 'user', content: 'Go.' }] },
  ...{ tools: [], context: [], forwardedProps: {}, state: {}, ...more },
})

/** An agent that asks about one call, and an operator with a passkey. */
async function openAsked(tool: 'fire' | 'send' = 'fire') {
  const passkeys = openProofs()
  const key = await passkeys.register('operator')
  const doors = await openGatedDoors({ answers: [calls([tool, 'bob']), says('Done.')], stepUp: passkeys.proofs })
  const [{ id } = { id: '' }] = interruptsOf(await doors.run('/', input()))
  const { digest } = await doors.approvals.get({ user: 'operator', role: 'operator' }, id)
  const resume = [{ interruptId: id, status: 'resolved', payload: { approved: true } }]
  return {
    doors,
    id,
    decide: (body: object, headers: Headers = {}) =>
      doors.post(`/approvals/${id}`, body, { ...asOperator, ...headers }),
    resume: (path: string, headers: Headers = {}) =>
      doors.post(path, input({ runId: 'run-2', messages: [], resume }), { ...asOperator, ...headers }),
    async proof(more: Partial<Parameters<typeof proofPurpose>[2]> = {}): Promise<Headers> {
      const purpose = proofPurpose(id, digest, { decision: 'approve', ...more })
      return { 'X-Passkey': await passkeys.prove('operator', purpose, key) }
    },
    status: async () => (await doors.approvals.get({ user: 'operator', role: 'operator' }, id)).status,
    async trail() {
      const entries = await doors.store.audit.entries(0, 100)
      return entries.map(({ text }) => JSON.parse(text)).filter(({ kind }) => kind === 'decision')
    },
    [Symbol.asyncDispose]: () => doors[Symbol.asyncDispose](),
  }
}

const refused = (id: string) => ({
  status: 403,
  code: 'passkey_required',
  approval_id: id,
  url: `http://localhost:8000/console/inbox/${id}`,
})

describe('with a passkey on the server', () => {
  test('POST /approvals/{id} approves what is critical only with a proof', async () => {
    await using asked = await openAsked()

    const without = await asked.decide({ decision: 'approve' })
    expect(await without.json()).toMatchObject(refused(asked.id))
    const other = await asked.decide({ decision: 'approve' }, await asked.proof({ decision: 'respond' }))
    expect(await other.json()).toMatchObject(refused(asked.id))
    expect([await asked.status(), asked.doors.delivered]).toEqual(['pending', []])

    const proof = await asked.proof()
    expect((await asked.decide({ decision: 'approve' }, proof)).status).toBe(200)
    expect(await asked.trail()).toMatchObject([{ by: 'operator', details: { passkey: expect.any(String) } }])
    // Whoever comes too late is told so, and needs no passkey for that.
    expect(await (await asked.decide({ decision: 'approve' })).json()).toMatchObject({ code: 'approval_decided' })
  })

  test.each(['/', '/awp', '/agents/tester', '/copilotkit/agent/default/run'])(
    'an answer in %s needs the same proof, and the call waits until then',
    async (path) => {
      await using asked = await openAsked()

      const without = await asked.resume(path)

      expect([without.status, await without.text()]).toEqual([403, expect.stringContaining('passkey_required')])
      expect([await asked.status(), asked.doors.delivered]).toEqual(['pending', []])
      const frames = await readSse(await asked.resume(path, await asked.proof())).rest()
      expect(outline(eventsOf(frames)).at(-1)).toBe('RUN_FINISHED success')
      expect(asked.doors.delivered).toEqual([['fire', 'bob']])
    },
  )

  test('to reject, and to approve what is not critical, needs none', async () => {
    await using critical = await openAsked()
    expect((await critical.decide({ decision: 'reject' })).status).toBe(200)

    await using high = await openAsked('send')
    expect((await high.decide({ decision: 'approve', remember: 'session' })).status).toBe(200)
  })

  test('to allow something always needs one, and to refuse it always needs none', async () => {
    await using asked = await openAsked('send')
    expect(await (await asked.decide({ decision: 'approve', remember: 'always' })).json()).toMatchObject(
      refused(asked.id),
    )
    // A proof for the one call is none for all that follow.
    const once = await asked.decide({ decision: 'approve', remember: 'always' }, await asked.proof())
    expect(once.status).toBe(403)
    const always = await asked.proof({ remember: { scope: 'always' } })
    expect((await asked.decide({ decision: 'approve', remember: 'always' }, always)).status).toBe(200)

    await using other = await openAsked('send')
    expect((await other.decide({ decision: 'reject', remember: 'always' })).status).toBe(200)
  })

  test('an answer in the place of a critical call needs one', async () => {
    await using asked = await openAsked()
    const answer = { decision: 'respond', result: 'Done by hand.' }

    expect((await asked.decide(answer)).status).toBe(403)
    const other = await asked.proof({ decision: 'respond', result: 'Nothing was done.' })
    expect((await asked.decide(answer, other)).status).toBe(403)
    const proof = await asked.proof({ decision: 'respond', result: 'Done by hand.' })
    expect((await asked.decide(answer, proof)).status).toBe(200)
  })

  test('a proof counts for the arguments that were edited, however they are written, and for no others', async () => {
    await using asked = await openAsked()
    const edited = { decision: 'approve', arguments: { to: 'ada' } }

    expect((await asked.decide(edited, await asked.proof())).status).toBe(403)
    expect((await asked.decide(edited, await asked.proof({ arguments: { to: 'eve' } }))).status).toBe(403)
    const proof = await asked.proof({ arguments: { to: 'ada' } })
    expect((await asked.decide({ decision: 'approve' }, proof)).status).toBe(403)
    expect([await asked.status(), asked.doors.delivered]).toEqual(['pending', []])

    expect((await asked.decide(edited, await asked.proof({ arguments: { to: 'ada' } }))).status).toBe(200)
  })

  test('a proof for a call that is always allowed covers how far that goes', async () => {
    await using asked = await openAsked('send')
    const always = { decision: 'approve', remember: 'always' }
    const wider = { ...always, grant: { where: { to: '*' } } }

    expect((await asked.decide(wider, await asked.proof({ remember: { scope: 'always' } }))).status).toBe(403)
    expect((await asked.decide(always, await asked.proof({ remember: { scope: 'always' } }))).status).toBe(200)
  })
})
