import { ClientError, type SentMessage } from 'quarterdeck/client'
import { expect, test } from 'vitest'
import { createOutbox, type Outbox } from './outbox.ts'

const words = (text: string) => ({ text, files: [], agent: null })

function memory(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const kept = new Map<string, string>()
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  }
}

/** A server that answers when the test says so. */
function open(storage = memory()) {
  const calls: { text: string; key: string | undefined; answer: (result: SentMessage | Error) => void }[] = []
  let count = 0
  const outbox = createOutbox({
    storage,
    makeId: () => `k${++count}`,
    client: {
      send: (_, text, options) =>
        new Promise((resolve, reject) => {
          const answer = (result: SentMessage | Error) => (result instanceof Error ? reject(result) : resolve(result))
          calls.push({ text, key: options?.idempotencyKey, answer })
        }),
    },
  })
  return { outbox, calls, storage }
}

const shown = (outbox: Outbox) => outbox.of('s').map(({ text, status }) => `${text} ${status}`)
const taken = (n: number): SentMessage => ({ run_id: `r${n}`, message_id: `m${n}` })
const settled = () => new Promise((resolve) => setTimeout(resolve))

test('sends one after the other and keeps each until the conversation shows it', async () => {
  const { outbox, calls } = open()
  outbox.send('s', words('one'), { begins: true })
  outbox.send('s', words('two'))
  expect(calls.map(({ text }) => text)).toEqual(['one'])
  expect(outbox.isNew('s')).toBe(true)
  calls[0]?.answer(taken(1))
  await settled()
  expect(outbox.isNew('s')).toBe(false)
  expect(shown(outbox)).toEqual(['one sent', 'two sending'])
  outbox.settle('s', ({ messageId }) => messageId === 'm1')
  expect(shown(outbox)).toEqual(['two sending'])
})

test('keeps what failed, with its key, and what was written after it', async () => {
  const { outbox, calls } = open()
  outbox.send('s', words('one'))
  outbox.send('s', words('two'))
  calls[0]?.answer(new ClientError('unreachable', 'Nothing answers.'))
  await settled()
  expect(shown(outbox)).toEqual(['one failed', 'two sending'])
  expect(outbox.of('s')[0]).toMatchObject({ problem: 'Nothing answers.', isCutOff: true })
  expect(calls.length).toBe(1)
  outbox.retryCutOff()
  calls[1]?.answer(taken(1))
  await settled()
  calls[2]?.answer(taken(2))
  await settled()
  expect(shown(outbox)).toEqual(['one sent', 'two sent'])
  expect(calls.map(({ key }) => key)).toEqual(['k1', 'k1', 'k2'])
})

test('does not repeat by itself what the server has refused', async () => {
  const { outbox, calls } = open()
  outbox.send('s', words('one'))
  outbox.send('s', words('two'))
  calls[0]?.answer(new ClientError('file_unreadable', 'The file cannot be read.', { status: 422 }))
  await settled()
  outbox.retryCutOff()
  expect(calls.length).toBe(1)
  outbox.discard('k1')
  expect(calls.map(({ text }) => text)).toEqual(['one', 'two'])
})

test('goes on after a reload with the same key', async () => {
  const first = open()
  first.outbox.send('s', words('one'))
  const second = open(first.storage)
  expect(shown(second.outbox)).toEqual(['one sending'])
  expect(second.calls.map(({ key }) => key)).toEqual(['k1'])
  second.calls[0]?.answer(taken(1))
  await settled()
  expect(shown(open(first.storage).outbox)).toEqual(['one sent'])
})

test('starts empty if what was kept makes no sense', () => {
  const storage = memory()
  storage.setItem('quarterdeck.outbox', '[{"key":1},null,"x"]')
  expect(shown(open(storage).outbox)).toEqual([])
  storage.setItem('quarterdeck.outbox', '{')
  expect(shown(open(storage).outbox)).toEqual([])
})
