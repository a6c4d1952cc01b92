import { expect, test } from 'vitest'
import type { OperationalMode } from '../../domain/supervision/supervision.ts'
import { explainMode, type Surface, surfacesOf } from './set-mode.ts'

const all: ReadonlySet<Surface> = new Set(['local', 'remote'])
const onlyLocal: ReadonlySet<Surface> = new Set(['local'])

test('a mode shows questions on its surface, and hybrid on both', () => {
  expect(surfacesOf('local', all)).toEqual(['local'])
  expect(surfacesOf('remote', all, 'high')).toEqual(['remote'])
  expect(surfacesOf('hybrid', all)).toEqual(['local', 'remote'])
})

test('what is critical is shown everywhere, in every mode', () => {
  expect(surfacesOf('local', all, 'critical')).toEqual(['local', 'remote'])
  expect(surfacesOf('remote', all, 'critical')).toEqual(['local', 'remote'])
})

test('a mode without a configured surface acts as hybrid, and says so', () => {
  expect(surfacesOf('remote', onlyLocal)).toEqual(['local', 'remote'])
  const explain = (mode: OperationalMode) => explainMode(mode, onlyLocal)
  expect(explain('remote')).toContain('acts as hybrid')
  expect([explain('local'), explain('hybrid')]).toEqual([null, null])
})
