// The whole server as `serve` starts it, on a free port, with a scripted model and a temporary data folder.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../src/app/app.ts'
import { testAppOptions } from '../../src/app/testing/test-app.ts'
import { resolveSettings } from '../../src/config/settings/resolve-settings.ts'
import type { ModelInput } from '../../src/domain/agent/agent.ts'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import type { ScriptedAnswer } from '../../src/models/scripted/script.ts'
import type { Tool } from '../../src/tools/tool.ts'
import { openTestStore, type TestStore } from './test-store.ts'

/** Use it with `await using`. Answers with `when` are used whenever they fit. Without `shared`, it has a store of its own. `input`: the
 * files that the model takes itself. */
export async function startScriptedApp(
  answers: readonly ScriptedAnswer[],
  tools: readonly Tool[] = [],
  shared: Pick<TestStore, 'env'> | null = null,
  input: readonly ModelInput[] = [],
) {
  await using undo = new AsyncDisposableStack()
  const { env } = shared ?? undo.use(await openTestStore())
  const directory = await mkdtemp(join(tmpdir(), 'quarterdeck-e2e-'))
  const script = join(directory, 'script.json')
  await writeFile(script, JSON.stringify({ answers }))
  const { settings } = resolveSettings({ flags: { port: '0' }, env, file: null, onTerminal: false })
  const app = await createApp({
    ...testAppOptions(),
    agents: [{ ...testAgent, directory, model: { ...testAgent.model, input, script } }],
    settings,
    dataDir: directory,
    tools: { [testAgent.name]: tools },
  })
  const { url, engine } = await app.listen()
  const opened = undo.move()
  return {
    url,
    engine,
    [Symbol.asyncDispose]: async () => {
      await app.close({ drainMs: 0 })
      await opened.disposeAsync()
      await rm(directory, { recursive: true })
    },
  }
}
