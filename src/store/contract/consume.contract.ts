import { describe, expect, test } from 'vitest'
import type { AnyRecord } from '../../domain/records/record.ts'
import {
  accept,
  acceptedRun,
  append,
  approve,
  auditors,
  auditRecords,
  beforeAndAfter,
  commit,
  done,
  event,
  finish,
  NOW,
  newApproval,
  newAudit,
  newId,
  newMessage,
  type OpenStore,
  openForTest,
  outcomes,
  readSession,
  refusal,
  waitingSession,
} from './samples.contract.ts'

const idsOf = (waits: readonly AnyRecord[]): string[] => waits.map(({ id }) => id)

export function describeConsumption(open: OpenStore): void {
  describe('using an approval', () => {
    async function approved(open: OpenStore, values: { editedDigest?: string } = {}) {
      const opened = await openForTest(open)
      const { session, waits } = await waitingSession(opened.store, (run) => [newApproval(run), newApproval(run)])
      const [id = '', other = ''] = idsOf(waits)
      const editedDigest = values.editedDigest ?? null
      const editedArguments = editedDigest === null ? null : '{"to":"eve@example.com"}'
      const outcome = { type: 'approved', reason: null, editedArguments, editedDigest } as const
      const run = await acceptedRun(opened.store, accept(session, { answers: [approve(id, { outcome })] }))
      return { ...opened, session, run, id, other }
    }

    test('is written together with its call, once', async () => {
      const { store, reopen, run, id } = await approved(open)
      const intent = append(run, [event('CUSTOM')], {
        consume: [{ waitId: id, digest: 'digest of the call', at: NOW + 5 }],
        audit: [newAudit('assistant', { kind: 'call_started' })],
      })

      const [first, second] = await commit(store, intent, intent)

      expect(first?.ok).toBe(true)
      expect(second).toMatchObject({ ok: false, error: { code: 'conflict' } })
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.waits.get(id)).toMatchObject({ status: 'consumed', decidedBy: 'ann', consumedAt: NOW + 5 })
        const after = first?.ok === true ? first.firstSeq - 1 : 0
        expect((await current.entries(run.sessionId, after, 10)).length).toBe(1)
        expect(await auditors(current)).toEqual(['assistant'])
      }
    })

    test.each(outcomes)('is no longer possible after its run ended as %s without using it', async (status) => {
      const { store, reopen, run, id, session } = await approved(open)
      const other = await waitingSession(store, (run) => [newApproval(run)])
      const otherId = other.waits[0]?.id ?? ''
      await acceptedRun(store, accept(other.session, { answers: [approve(otherId)] }))

      await done(store, finish(run, { status, now: NOW + 9, audit: [newAudit('first')] }))

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.waits.get(id)).toMatchObject({
          status: 'interrupted',
          decidedBy: 'ann',
          decidedAt: expect.any(Number),
          consumedAt: null,
          reason: 'It was approved, and its call did not run: the run that was to make it ended first.',
        })
        expect((await current.waits.get(otherId))?.status).toBe('approved')
        const records = await auditRecords(current)
        expect(records.slice(1)).toEqual([
          {
            at: NOW + 9,
            kind: 'approval_voided',
            by: run.agent,
            session: session.id,
            run: run.id,
            agent: run.agent,
            tool: 'send_mail',
            call: 'call',
            details: { approval: id, digest: 'digest of the call', run_status: status },
          },
        ])
      }
    })

    test('stays recorded when its run ends', async () => {
      const { store, run, id } = await approved(open)
      await done(store, append(run, [], { consume: [{ waitId: id, digest: 'digest of the call', at: NOW + 5 }] }))
      await done(store, finish(run, { status: 'failed' }))
      expect(await store.waits.get(id)).toMatchObject({ status: 'consumed' })
      expect(await store.audit.entries(0, 10)).toEqual([])
    })

    test('survives a power cut once it is acknowledged, also without `sync`', async (context) => {
      const { store, powerCut, run, id } = await approved(open)
      if (powerCut === undefined) return context.skip('this store cannot be cut off from its power')
      await done(store, append(run, [], { consume: [{ waitId: id, digest: 'digest of the call', at: NOW }] }))

      expect(await (await powerCut()).waits.get(id)).toMatchObject({ status: 'consumed' })
    })

    test('is refused for anything else, and leaves no trace', async () => {
      const { store, session, run, id, other } = await approved(open)
      const foreign = await waitingSession(store, (run) => [newApproval(run)])
      const foreignId = foreign.waits[0]?.id ?? ''
      await done(store, accept(foreign.session, { answers: [approve(foreignId)] }))
      const before = await readSession(store, session, [run])
      const digest = 'digest of the call'
      const use = (...consume: { waitId: string; digest: string }[]) =>
        append(run, [event('CUSTOM')], {
          sync: true,
          messages: [newMessage('unsaid')],
          activeAgent: 'unsaid',
          audit: [newAudit('unsaid')],
          consume: consume.map((one) => ({ ...one, at: NOW })),
        })

      for (const command of [
        use({ waitId: id, digest: 'another digest' }),
        use({ waitId: other, digest }),
        use({ waitId: newId(), digest }),
        use({ waitId: foreignId, digest }),
        use({ waitId: id, digest }, { waitId: id, digest }),
        use({ waitId: id, digest }, { waitId: other, digest }),
      ]) {
        expect(await refusal(store, command)).toBe('conflict')
      }

      expect(await readSession(store, session, [run])).toEqual(before)
      expect(await store.waits.get(id)).toMatchObject({ status: 'approved', consumedAt: null })
      expect(await store.waits.get(foreignId)).toMatchObject({ status: 'approved' })
      expect(await auditors(store)).toEqual([])
    })

    test('needs the digest of the arguments that the answer edited', async () => {
      const { store, run, id } = await approved(open, { editedDigest: 'edited digest' })
      const use = (digest: string) => append(run, [], { sync: true, consume: [{ waitId: id, digest, at: NOW }] })

      expect(await refusal(store, use('digest of the call'))).toBe('conflict')
      expect((await done(store, use('edited digest'))).ok).toBe(true)
      expect(await store.waits.get(id)).toMatchObject({
        status: 'consumed',
        arguments: '{"to":"bob@example.com"}',
        editedArguments: '{"to":"eve@example.com"}',
      })
    })

    test('is refused to a process that does not own the run', async () => {
      const { store, run, id } = await approved(open)
      const consume = [{ waitId: id, digest: 'digest of the call', at: NOW }]

      expect(await refusal(store, append({ ...run, fence: run.fence + 1 }, [], { consume }))).toBe('run_fenced')
      expect(await store.waits.get(id)).toMatchObject({ status: 'approved' })
    })
  })
}
