import { join } from 'node:path'
import { variable } from '../config/source/env-file.ts'
import {
  bearer,
  HOST_LIMIT_SECONDS,
  type Host,
  type HostSetup,
  NOTICE_LIMIT_SECONDS,
  onlyDiff,
  SERVER_NAME,
  toolsThat,
  usualWords,
  words,
  writer,
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
  install: 'npm install -g @openai/codex',
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
  hook: {
    ...usualWords,
    canChange: (event) => event !== 'PermissionRequest',
    // Codex knows an `allow` before a tool only together with a changed input. Without an opinion it goes on.
    allow: (event, changed) =>
      changed === null && event !== 'PermissionRequest' ? {} : usualWords.allow(event, changed),
  },
  call: { client: /^codex-mcp-client\b/, seconds: 300, isExtended: false },
  reads: { folder: '.codex', files: /^(?:\.?codex\.toml|agents(?:\.local|\.override)?\.md)$/ },
  tools: {
    ...toolsThat('host', 'update_plan', 'get_goal', 'create_goal', 'update_goal', 'request_user_input', 'tool_search'),
    ...toolsThat('host', 'get_context_remaining', 'list_mcp_resources', 'list_mcp_resource_templates', 'sleep'),
    // The calls of an agent are asked about one by one.
    ...toolsThat('host', 'spawn_agent', 'wait_agent', 'close_agent', 'resume_agent', 'send_input', 'list_agents'),
    ...toolsThat('host', 'interrupt_agent', 'send_message', 'followup_task'),
    ...toolsThat('reads', 'view_image', 'read_file', 'list_dir'),
    grep_files: 'searches',
    // Codex calls the text of its patch a command.
    apply_patch: 'writes',
    // The change of one file, as Codex tells it over ACP.
    fileChange: writer({ path: 'file_path', whole: 'content', old: 'old_string', next: 'new_string' }),
    // Its hooks call every shell Bash.
    ...toolsThat('runs', 'Bash', 'shell', 'shell_command', 'local_shell', 'exec_command', 'container.exec'),
    ...toolsThat('reaches', 'web_search', 'image_gen', 'imagegen'),
    // What is typed into a command that runs may do anything.
    ...toolsThat('unknown', 'write_stdin', 'read_mcp_resource', 'request_permissions', 'request_plugin_install'),
  },
  acp: {
    command: 'codex-acp',
    args: [],
    install: 'npm install -g @agentclientprotocol/codex-acp',
    credentials: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
    // It keeps the key in its home folder from then on.
    authMethod: 'api-key',
    env: { INITIAL_AGENT_MODE: 'read-only', NO_BROWSER: '1' },
    // A resumed session is in the mode `agent` again, in which a model of Codex decides.
    askingMode: 'read-only',
    bold: { modes: ['workspace-write', 'agent', 'agent-full-access'], options: {} },
    commands: null,
    writesThroughClient: false,
    toolOf(call) {
      if (call.kind === 'execute') {
        const { command, cwd, ...others } = words(call.rawInput)
        // With more it asks for the network, or for other folders.
        if (typeof command !== 'string' || Object.keys(others).length > 0) return null
        return { tool: 'exec_command', input: cwd === undefined ? { command } : { command, cwd } }
      }
      if (call.kind !== 'edit') return null
      const diff = onlyDiff(call)
      if (diff?.kind === 'add') return { tool: 'fileChange', input: { file_path: diff.path, content: diff.next } }
      if (diff?.kind !== 'update' || diff.old === '') return { tool: 'apply_patch', input: {} }
      return { tool: 'fileChange', input: { file_path: diff.path, old_string: diff.old, new_string: diff.next } }
    },
  },
}
