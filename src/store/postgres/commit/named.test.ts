import { expect, test } from 'vitest'
import type { Supervision } from '../../../domain/supervision/supervision.ts'
import { newSession } from '../../contract/samples.contract.ts'
import type { Supervise } from '../../ports/supervised.ts'
import { addNamed, createNamed } from './named.ts'

test('only a step that may open a supervised session waits for others that do', () => {
  const step = (more: Partial<Supervise>): string[] => {
    const named = createNamed()
    addNamed(named, { type: 'supervise', sessionId: 's', now: 1, maxOpen: { perOwner: 3, total: null }, ...more })
    return named.names
  }
  const status = (one: Supervision['status']) => step({ supervision: { status: one } })

  expect([step({}), status('terminated')]).toEqual([[], []])
  const names = ['open supervised sessions']
  expect([step({ create: newSession() }), step({ owner: 'eve' })]).toEqual([names, names])
  expect([status('active'), status('paused')]).toEqual([names, names])
})
