import { join } from 'node:path'
import { variable } from '../config/source/env-file.ts'
import {
  bearer,
  HOST_LIMIT_SECONDS,
  type Host,
  type HostSetup,
  NOTICE_LIMIT_SECONDS,
  SERVER_NAME,
  usualWords,
} from './host.ts'

function serverTable({ server }: HostSetup) {
  const limits = { startup_timeout_sec: 30, tool_timeout_sec: HOST_LIMIT_SECONDS }
  if (server.type === 'http') return { url: server.url, http_headers: bearer(server.token), ...limits }
  const env = Object.keys(server.env).length === 0 ? {} : { env: { ...server.env } }
  return { command: server.command, args: [...server.args], ...limits, ...env }
}

function hookEntries({ hook }: HostSetup) {
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

export const codex: Host = {
  title: 'Codex',
  configFiles({ home, env }) {
    const folder = variable(env, 'CODEX_HOME') ?? join(home, '.codex')
    return [
      {
        path: join(folder, 'config.toml'),
        format: 'toml',
        // Codex has no MCP servers for one folder, so this one finds out which folder it is started in.
        server: { keys: () => ['mcp_servers', SERVER_NAME], entry: serverTable, isOfFolder: false },
        hooks: null,
      },
      { path: join(folder, 'hooks.json'), format: 'json', server: null, hooks: hookEntries },
    ]
  },
  offSwitches: () => [],
  notes: [
    'Codex runs a new hook only after you trust it: start codex, type /hooks, and trust the hooks of quarterdeck. Until then it does not ask.',
    'Codex asks before commands, patches and MCP tools. It does not ask before it types into a command that already runs.',
  ],
  ownFolders: ['.codex', '.cache'],
  launch: ({ prompt, mcpUrl, extraArgs }) => ({
    // It takes no second configuration file, but single keys. The token is not one of them: it is read from the environment.
    args: [
      'exec',
      // The settings say that it may work here; without this it refuses folders that are not a repository it trusts.
      '--skip-git-repo-check',
      '-c',
      `mcp_servers.${SERVER_NAME}.url=${JSON.stringify(mcpUrl)}`,
      '-c',
      `mcp_servers.${SERVER_NAME}.bearer_token_env_var="QUARTERDECK_AGENT_TOKEN"`,
      ...extraArgs,
      '-',
    ],
    files: {},
    stdin: prompt,
  }),
  hook: {
    ...usualWords,
    reading: ['update_plan', 'view_image'],
    // Codex calls the text of its patch a command.
    patching: ['apply_patch'],
    canChange: (event) => event !== 'PermissionRequest',
    // Codex knows an `allow` before a tool only together with a changed input. Without an opinion it goes on.
    allow: (event, changed) =>
      changed === null && event !== 'PermissionRequest' ? {} : usualWords.allow(event, changed),
  },
  call: { client: /^codex-mcp-client\b/, seconds: 300, isExtended: false },
  reads: { folder: '.codex', files: /^(?:\.?codex\.toml|agents(?:\.local|\.override)?\.md)$/ },
}
