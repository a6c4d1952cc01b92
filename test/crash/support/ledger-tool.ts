// A tool that writes a line into a file and can be held before and after that. Its arguments say where to hold, so that one server
// can hold one call and let the others go.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ScriptedAnswer } from '../../../src/models/scripted/script.ts'
import type { YardOptions } from './start-server.ts'

/** `slow`: it is slow before and after its effect, but is not held. */
export type Hold = 'before' | 'after' | 'slow' | 'none'

const source = `
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits here until the file that releases it exists. */
async function hold(place: string, name: string) {
  writeFileSync(\`at-\${place}-\${name}\`, '')
  while (!existsSync(\`go-\${place}-\${name}\`)) await pause(5)
}

export async function pay({ name, hold: where = 'none' }: { name: string; hold?: string }) {
  if (where === 'before') await hold('before', name)
  if (where === 'slow') await pause(60)
  appendFileSync('ledger', name + '\\n')
  if (where === 'after') await hold('after', name)
  if (where === 'slow') await pause(60)
  return 'Paid for ' + name + '.'
}
`

const tool = {
  type: 'function',
  name: 'pay',
  description: 'Writes a line into the ledger: an effect that must not come twice.',
  file: 'ledger.ts',
  parameters: { name: { type: 'string' }, hold: { type: 'string', optional: true } },
  timeout: '60s',
}

/** An agent that is asked to "pay for <name>;" and holds its call where the name says. */
export const ledgerYard = (names: readonly { name: string; hold: Hold }[]): YardOptions => ({
  files: { 'ledger.ts': source },
  agent: { tools: [tool] },
  answers: [
    ...names.map(
      ({ name, hold }): ScriptedAnswer => ({
        when: `pay for ${name};`,
        parts: [{ text: 'I will. ' }, { tool_call: { name: 'pay', arguments: { name, hold } } }],
      }),
    ),
    { parts: [{ text: 'Well.' }] },
  ],
})

export interface Ledger {
  /** How often it was paid for. */
  count(name: string): number
  /** Whether a call is held there. */
  isHeld(place: Extract<Hold, 'before' | 'after'>, name: string): boolean
  /** Releases all held calls, present and future ones. */
  release(place: Extract<Hold, 'before' | 'after'>, name: string): void
}

export function openLedger(directory: string): Ledger {
  const path = join(directory, 'ledger')
  return {
    count: (name) =>
      existsSync(path)
        ? readFileSync(path, 'utf8')
            .split('\n')
            .filter((line) => line === name).length
        : 0,
    isHeld: (place, name) => existsSync(join(directory, `at-${place}-${name}`)),
    release: (place, name) => writeFileSync(join(directory, `go-${place}-${name}`), ''),
  }
}
