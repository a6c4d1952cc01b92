import { join } from 'node:path'
import { variable } from '../../../config/source/env-file.ts'
import { editJson, trimJson } from './edit-json.ts'
import { dropHooks, hookedFolders, setHooks } from './hook-entries.ts'
import {
  HOST_LIMIT_SECONDS,
  type HostAdapter,
  type HostSetup,
  NOTICE_LIMIT_SECONDS,
  SERVER_NAME,
} from './host-adapter.ts'

function serverEntry({ server }: HostSetup): Record<string, unknown> {
  const shared = { tools: ['*'], timeout: HOST_LIMIT_SECONDS * 1_000 }
  if (server.type === 'http') {
    return { type: 'http', url: server.url, headers: { Authorization: `Bearer ${server.token}` }, ...shared }
  }
  return { type: 'local', command: server.command, args: server.args, env: server.env, ...shared }
}

function hookEntries({ hook }: HostSetup): Record<string, unknown> {
  const entry = (event: string, isQuestion: boolean, timeoutSec: number) => ({
    type: 'command',
    bash: hook(event, isQuestion),
    timeoutSec,
  })
  return {
    // With a capital letter, Copilot CLI sends the same input as Claude Code does, with the name of the event in it.
    PreToolUse: entry('PreToolUse', true, HOST_LIMIT_SECONDS),
    SessionStart: entry('SessionStart', false, NOTICE_LIMIT_SECONDS),
    SessionEnd: entry('SessionEnd', false, NOTICE_LIMIT_SECONDS),
    Stop: entry('Stop', false, NOTICE_LIMIT_SECONDS),
  }
}

export const copilot: HostAdapter = {
  title: 'Copilot CLI',
  edits({ home, env }) {
    const folder = variable(env, 'COPILOT_HOME') ?? join(home, '.copilot')
    const [servers, settings] = [join(folder, 'mcp-config.json'), join(folder, 'settings.json')]
    const place = ['mcpServers', SERVER_NAME]
    return [
      {
        path: servers,
        what: 'MCP server',
        apply: (text, setup) => editJson(text, servers, (json) => json.set(place, serverEntry(setup))),
        remove: (text, { isLast }) => (isLast ? trimJson(text, servers, (json) => json.remove(place)) : text),
      },
      {
        path: settings,
        what: 'hooks',
        apply: (text, setup) => editJson(text, settings, (json) => setHooks(json, hookEntries(setup))),
        remove: (text, target) => trimJson(text, settings, (json) => dropHooks(json, target)),
      },
    ]
  },
  offSwitches: ({ home, env }) => [
    {
      path: join(variable(env, 'COPILOT_HOME') ?? join(home, '.copilot'), 'settings.json'),
      key: ['disableAllHooks'],
      off: true,
    },
  ],
  connected: ([, settings = '{}']) => hookedFolders(settings),
  notes: [
    'Copilot CLI asks before every tool call, also with --allow-all-tools. It refuses a call if the hook fails, but not if the hook is too late.',
    'It does not ask where disableAllHooks is set.',
  ],
}
