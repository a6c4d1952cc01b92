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
  const { approvals, feed, start, events } = opened
  const ask = async (alias: string) => void (await events(await start('Hi', { session: { create: { alias } } })))
  await ask('a')
  /** Asks once more, before or after the list is read. */
  const asking = (when: 'before' | 'after') =>
    createInbox({
      feed,
      approvals: {
        async list(query) {
          if (when === 'before') await ask('b')
          const found = await approvals.list(query)
          if (when === 'after') await ask('c')
          return found
        },
      },
    })
  for (const when of ['before', 'after'] as const) {
    const { items, cursor } = await asking(when).list(by, { limit: 10 })
    const later = (await feed.items(cursor, 100)).filter(({ kind }) => kind === 'wait').map(({ id }) => id)
    const all = (await approvals.list({ by, status: 'pending', limit: 10 })).map(({ id }) => id)

    expect([...items.map(({ approval }) => approval.id), ...later].sort()).toEqual(all.sort())
  }
})
