import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../domain/logger.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { createOnlyReplica } from '../../replicas/replica.ts'
import { openReplicaBoard } from '../../replicas/replica-board.ts'
import { createSharedChanges } from '../../replicas/shared-changes.ts'
import { createLocalShared } from '../../store/local-shared.ts'
import { approval } from '../testing/approval.ts'
import { createWhoLooks } from './who-looks.ts'

const id = '0192f3a1-7b2c-7def-8abc-0123456789ab'
const waits = { get: async (one: string) => (one === id ? { ...approval, id } : null) }

function openAlone() {
  const clock = createManualClock()
  const looks = createWhoLooks({
    waits,
    clock,
    replica: createOnlyReplica({ shared: createLocalShared(clock), owner: 'A' }),
  })
  return { clock, looks }
}

test('others see who looks, since when, until a minute has passed since they said so', async () => {
  const { clock, looks } = openAlone()
  let changes = 0
  looks.besides('ben').watch(() => {
    changes += 1
  })
  const at = clock.now()
  await looks.take(id, 'mara')
  await clock.advance(40_000)
  await looks.take(id, 'mara')
  await clock.advance(59_999)
  expect([looks.besides('ben').list(), looks.besides('mara').list(), changes]).toEqual([
    [{ id, name: 'mara', at }],
    [],
    1,
  ])
  await clock.advance(1)
  expect([looks.besides('ben').list(), changes, clock.pending]).toEqual([[], 2, 0])
})

test('of several the first is named, to each the first of the others; whoever leaves is gone at once', async () => {
  const { clock, looks } = openAlone()
  for (const name of ['mara', 'ben', 'cleo']) {
    await looks.take(id, name)
    await clock.advance(1)
  }
  const seen = () =>
    ['mara', 'ben', 'eve'].map((name) =>
      looks
        .besides(name)
        .list()
        .map((one) => one.name)
        .join(),
    )
  expect(seen()).toEqual(['ben', 'mara', 'mara'])
  looks.leave(id, 'mara')
  looks.leave(id, 'nobody')
  looks.leave('not an id', 'ben')
  expect(seen()).toEqual(['ben', 'cleo', 'ben'])
})

test('what is not in the inbox cannot be looked at', async () => {
  const { looks } = openAlone()
  for (const name of [id.replace('b', 'c'), 'x', '__proto__']) {
    await expect(looks.take(name, 'mara')).rejects.toMatchObject({ code: 'record_not_found' })
  }
})

test('another process on the store hears of it, and that it is over, also when a process dies', async () => {
  const clock = createManualClock()
  const shared = createLocalShared(clock)
  const open = (owner: string) => {
    const board = openReplicaBoard({ shared, owner, clock, logger: silentLogger })
    const changes = createSharedChanges({ shared, owner, clock, logger: silentLogger })
    const looks = createWhoLooks({ waits, replica: { board, changes }, clock })
    const close = async () => {
      looks.close()
      await Promise.all([changes.close(), board.close()])
    }
    onTestFinished(close)
    return { looks, close }
  }
  const [here, there] = [open('A'), open('B')]
  const names = () =>
    there.looks
      .besides('ben')
      .list()
      .map(({ name }) => name)
  let told = 0
  there.looks.besides('ben').watch(() => {
    told += 1
  })
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 100) await clock.advance(100)
  }
  await pass(1_000)
  const before = told
  await here.looks.take(id, 'mara')
  await pass(600)
  expect([names(), told > before]).toEqual([['mara'], true])
  here.looks.leave(id, 'mara')
  await pass(600)
  expect(names()).toEqual([])
  await here.looks.take(id, 'mara')
  await pass(600)
  expect(names()).toEqual(['mara'])
  await here.close()
  await pass(15_000)
  expect(names()).toEqual([])
})
