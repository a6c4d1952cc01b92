import { expect, test } from 'vitest'
import { startedAgents } from '../../config/agent/started-agents.ts'
import { agentDefaults } from '../../config/source/load-context.ts'
import { openEngine } from '../../engine/testing/open-engine.ts'
import { everywhere, openSupervision } from '../testing/open-supervision.ts'
import { createSpawner } from './create-spawner.ts'

/** Says what the server would start, of these that are installed. */
function openSpawner(installed: readonly string[], usual: string | null = null) {
  const { parts, store } = openSupervision({ maxOpen: 1 })
  const agents = startedAgents({ hostCli: usual, hostCliArgs: [] }, agentDefaults)
  const { engine } = openEngine({ store, hosted: agents })
  return createSpawner({
    ...parts,
    agents,
    usual,
    lacks: async ({ name }) =>
      installed.includes(name) ? null : { problem: `There is no ${name}.`, command: `npm install ${name}` },
    findWorkspace: everywhere.find,
    runs: engine.runs,
  })
}

const wanted = { owner: 'ann', prompt: 'Fix it.', workspace: '/srv/shop' }

test('the host that is named is started, else that of the settings, else the only one that is installed', async () => {
  await expect(openSpawner(['codex']).check(wanted)).resolves.toBe(undefined)
  await expect(openSpawner(['codex', 'gemini'], 'gemini').check(wanted)).resolves.toBe(undefined)
  await expect(openSpawner(['codex', 'gemini']).check({ ...wanted, host: 'codex' })).resolves.toBe(undefined)
  await expect(openSpawner(['codex', 'gemini']).check(wanted)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('Say which agent: codex, gemini.'),
  })
})

test('one that is missing says how to install it, and nobody unknown starts one', async () => {
  await expect(openSpawner(['codex'], 'claude').check(wanted)).rejects.toMatchObject({
    code: 'conflict',
    message: 'There is no claude. Install it with: npm install claude',
  })
  await expect(openSpawner([]).check(wanted)).rejects.toMatchObject({ code: 'conflict' })
  await expect(openSpawner(['codex']).check({ ...wanted, host: 'emacs' })).rejects.toMatchObject({
    code: 'invalid_request',
  })
  await expect(openSpawner(['codex']).check({ ...wanted, owner: 'mal' })).rejects.toMatchObject({ code: 'forbidden' })
})
