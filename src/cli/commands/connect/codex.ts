import { join } from 'node:path'
import type { TomlTable } from 'smol-toml'
import { variable } from '../../../config/source/env-file.ts'
import { editJson, trimJson } from './edit-json.ts'
import { editToml } from './edit-toml.ts'
import { dropHooks, hookedFolders, setHooks } from './hook-entries.ts'
import {
  HOST_LIMIT_SECONDS,
  type HostAdapter,
  type HostSetup,
  NOTICE_LIMIT_SECONDS,
  SERVER_NAME,
} from './host-adapter.ts'

const TABLE = ['mcp_servers', SERVER_NAME] as const

/** Codex has no MCP servers for one folder, so this one finds out which folder it is started in. */
function serverTable({ server }: HostSetup): TomlTable {
  const limits = { startup_timeout_sec: 30, tool_timeout_sec: HOST_LIMIT_SECONDS }
  if (server.type === 'http') {
    return { url: server.url, http_headers: { Authorization: `Bearer ${server.token}` }, ...limits }
  }
  const env = Object.keys(server.env).length === 0 ? {} : { env: { ...server.env } }
  return { command: server.command, args: [...server.args], ...limits, ...env }
}

function hookEntries({ hook }: HostSetup): Record<string, unknown> {
  const entry = (event: string, isQuestion: boolean, timeout: number) => ({
    hooks: [{ type: 'command', command: hook(event, isQuestion), timeout }],
  })
  return {
    PreToolUse: entry('PreToolUse', true, HOST_LIMIT_SECONDS),
    // What Codex would ask the person at its terminal, for example to leave the sandbox.
    PermissionRequest: entry('PermissionRequest', true, HOST_LIMIT_SECONDS),
    SessionStart: entry('SessionStart', false, NOTICE_LIMIT_SECONDS),
    // Codex allows no more.
    SessionEnd: entry('SessionEnd', false, 3),
    Stop: entry('Stop', false, NOTICE_LIMIT_SECONDS),
  }
}

export const codex: HostAdapter = {
  title: 'Codex',
  edits({ home, env }) {
    const folder = variable(env, 'CODEX_HOME') ?? join(home, '.codex')
    const [config, hooks] = [join(folder, 'config.toml'), join(folder, 'hooks.json')]
    return [
      {
        path: config,
        what: 'MCP server',
        apply: (text, setup) => editToml(text, config, TABLE, serverTable(setup)),
        remove: (text, { isLast }) => (isLast ? editToml(text, config, TABLE, null) || null : text),
      },
      {
        path: hooks,
        what: 'hooks',
        apply: (text, setup) => editJson(text, hooks, (json) => setHooks(json, hookEntries(setup))),
        remove: (text, target) => trimJson(text, hooks, (json) => dropHooks(json, target)),
      },
    ]
  },
  offSwitches: () => [],
  connected: ([, hooks = '{}']) => hookedFolders(hooks),
  notes: [
    'Codex runs a new hook only after you trust it: start codex, type /hooks, and trust the hooks of quarterdeck. Until then it does not ask.',
    'Codex asks before commands, patches and MCP tools. It does not ask before it types into a command that already runs.',
  ],
}
