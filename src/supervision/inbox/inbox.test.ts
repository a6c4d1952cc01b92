import { expect, onTestFinished, test } from 'vitest'
import { openEngine, testTool } from '../../engine/testing/open-engine.ts'
import { createInbox } from './inbox.ts'

const by = { user: 'eve', role: 'operator' } as const

test('what begins to wait while the list is read comes once: in the list or after its cursor', async () => {
  const call = async () => ({ content: 'Wiped.', isError: false })
  const opened = openEngine({
    answers: [{ parts: [{ tool_call: { name: 'wipe' } }] }],
    tools: [testTool({ name: 'wipe', risk: 'high', effect: 'once', approval: { ask: 'always' }, call })],
  })
  onTestFinished(opened.close)
  const { approvals, feed, store, log, clock, start, events } = opened
  const ask = async (alias: string) => void (await events(await start('Hi', { session: { create: { alias } } })))
  await ask('a')
  /** Asks once more, before or after the list is read. */
  const asking = (when: 'before' | 'after') =>
    createInbox({
      feed,
      log,
      clock,
      store: {
        sessions: store.sessions,
        waits: {
          ...store.waits,
          async list(query) {
            const isFirst = query.wait === 'approval'
            if (when === 'before' && isFirst) await ask('b')
            const found = await store.waits.list(query)
            if (when === 'after' && isFirst) await ask('c')
            return found
          },
        },
      },
    })
  for (const when of ['before', 'after'] as const) {
    const { items, cursor } = await asking(when).list(by, { limit: 10 })
    const later = (await feed.items(cursor, 100)).filter(({ kind }) => kind === 'wait').map(({ id }) => id)
    const all = (await approvals.list({ by, status: 'pending', limit: 10 })).map(({ id }) => id)

    expect([...items.map(({ id }) => id), ...later].sort()).toEqual(all.sort())
  }
})
