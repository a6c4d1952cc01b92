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

/** Claude Code keeps the MCP servers of a folder, and those of the user, in one file outside of the folder. */
const serverPath = (workspace: string | null): string[] => [
  ...(workspace === null ? [] : ['projects', workspace]),
  'mcpServers',
  SERVER_NAME,
]

function serverEntry({ server }: HostSetup): Record<string, unknown> {
  const timeout = HOST_LIMIT_SECONDS * 1_000
  if (server.type === 'http') {
    return { type: 'http', url: server.url, headers: { Authorization: `Bearer ${server.token}` }, timeout }
  }
  return { type: 'stdio', command: server.command, args: server.args, env: server.env, timeout }
}

function hookEntries({ hook }: HostSetup): Record<string, unknown> {
  const tell = (event: string) => ({
    hooks: [{ type: 'command', command: hook(event, false), timeout: NOTICE_LIMIT_SECONDS }],
  })
  return {
    PreToolUse: {
      matcher: '*',
      hooks: [
        {
          type: 'command',
          command: hook('PreToolUse', true),
          timeout: HOST_LIMIT_SECONDS,
          // Without it, a hook that is killed or too late lets the call through.
          onFailure: 'block',
          // Shown at the terminal while the hook waits.
          statusMessage: 'Asking Quarterdeck. If it waits for you, answer in its console or in ctl.',
        },
      ],
    },
    SessionStart: tell('SessionStart'),
    SessionEnd: tell('SessionEnd'),
    Stop: tell('Stop'),
    Notification: tell('Notification'),
  }
}

export const claude: HostAdapter = {
  title: 'Claude Code',
  edits({ home, env }) {
    const named = variable(env, 'CLAUDE_CONFIG_DIR')
    const state = join(named ?? home, '.claude.json')
    const settings = join(named ?? join(home, '.claude'), 'settings.json')
    return [
      {
        path: state,
        what: 'MCP server',
        apply: (text, setup) =>
          editJson(text, state, (json) => json.set(serverPath(setup.workspace), serverEntry(setup))),
        remove: (text, { workspace }) => trimJson(text, state, (json) => json.remove(serverPath(workspace))),
      },
      {
        path: settings,
        what: 'hooks',
        apply: (text, setup) => editJson(text, settings, (json) => setHooks(json, hookEntries(setup))),
        remove: (text, target) => trimJson(text, settings, (json) => dropHooks(json, target)),
      },
    ]
  },
  offSwitches: ({ home, env, workspace }) =>
    [
      join(variable(env, 'CLAUDE_CONFIG_DIR') ?? join(home, '.claude'), 'settings.json'),
      join(workspace, '.claude', 'settings.json'),
      join(workspace, '.claude', 'settings.local.json'),
    ].map((path) => ({ path, key: ['disableAllHooks'], off: true })),
  connected: ([, settings = '{}']) => hookedFolders(settings),
  notes: [
    'Claude Code asks before every tool call, also with --dangerously-skip-permissions. It refuses a call if the hook fails (2.1.295 and later).',
    'It does not ask with --bare, or where disableAllHooks is set. Start Claude Code again to use it.',
  ],
}
