// The whole server with a scripted model, which tells a receiver on this machine.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApp } from '../../app/app.ts'
import type { AppOptions } from '../../app/app-options.ts'
import { testAppOptions } from '../../app/testing/test-app.ts'
import { resolveSettings } from '../../config/settings/resolve-settings.ts'
import { testAgent } from '../../engine/testing/open-engine.ts'
import { createLogTap } from '../../http/logging/log-tap.ts'
import { createLogger } from '../../http/logging/logger.ts'
import type { ScriptedAnswer } from '../../models/scripted/script.ts'

interface TracedAppOptions {
  /** Also where the script lies. */
  dataDir: string
  /** Variables of OpenTelemetry. */
  env: Record<string, string>
  /** More settings, in YAML. */
  yaml?: string
  answers: readonly ScriptedAnswer[]
  tools?: NonNullable<AppOptions['tools']>[string]
  agent?: Partial<typeof testAgent>
  more?: Partial<AppOptions>
}

export async function openTracedApp({ dataDir, env, yaml = '', answers, tools = [], agent, more }: TracedAppOptions) {
  const script = join(dataDir, 'script.json')
  writeFileSync(script, JSON.stringify({ answers }))
  const file = yaml === '' ? null : { path: join(dataDir, 'quarterdeck.yaml'), text: yaml }
  const { settings } = resolveSettings({ flags: { port: '0' }, env, file, onTerminal: false })
  const lines: Record<string, unknown>[] = []
  const logTap = createLogTap()
  const log = createLogger({
    level: 'info',
    format: 'json',
    write: (line) => void lines.push(JSON.parse(line)),
    now: () => Date.now(),
    content: false,
    secrets: [],
    tap: logTap.take,
    render: null,
    colors: false,
  })
  const definition = { ...testAgent, ...agent }
  const app = await createApp({
    ...testAppOptions(),
    agents: [{ ...definition, directory: dataDir, model: { script, ...definition.model } }],
    settings,
    dataDir,
    version: '1.2.3',
    log,
    logTap,
    tools: { [testAgent.name]: tools },
    ...more,
  })
  const open = await app.listen()

  async function send(path: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> {
    const answer = await fetch(`${open.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    return answer.json()
  }

  /** Resolves when the run has ended or waits. */
  async function ended(runId: string): Promise<void> {
    await (await fetch(`${open.url}/runs/${runId}/events`)).text()
  }

  return { ...open, lines, send, ended, close: app.close }
}
