// Every command of the shelf Learn, as it is written, with the packed program and from a clone, under this Node and an older one.

import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, test } from 'vitest'
import { findOldNode } from '../../src/cli/testing/old-node.ts'
import { hasScript } from '../terminal.ts'
import { parts, stepsOf } from './pages.ts'
import { makePrograms, type Programs } from './programs.ts'
import { createReader, type Reader } from './replay.ts'

const oldNode = findOldNode()
if (oldNode === null) process.stderr.write('Learn is replayed with this Node alone: there is no older one here.\n')
if (!hasScript) process.stderr.write('Learn is not replayed: there is no `script` here that makes a terminal.\n')

let programs: Programs
beforeAll(async () => {
  if (!hasScript) return
  programs = await makePrograms()
  return () => programs.remove()
}, 600_000)

/** An older Node has the packed program, as newcomers do, and this one the clone; in the long tests both have both. */
const places = (['packed', 'clone'] as const).flatMap((kind) => {
  const all = [
    { kind, name: 'an older', node: oldNode },
    { kind, name: 'this', node: process.execPath },
  ].flatMap(({ node, ...place }) => (node === null ? [] : [{ ...place, node }]))
  return process.env.LONG === '1' ? all : kind === 'packed' ? all.slice(0, 1) : all.slice(-1)
})

describe.runIf(hasScript).each(places)('$kind, with $name Node', ({ kind, node }) => {
  let reader: Reader
  beforeAll(async () => {
    const folder = mkdtempSync(join(programs.folder, 'reader-'))
    reader = await createReader({ folder, node, from: { kind, place: programs[kind] } })
  })
  test.each(parts)('%s', { timeout: 600_000 }, async (part) => await reader.take(stepsOf(part)))
})
