import { join } from 'node:path'
import { variable } from '../config/source/env-file.ts'
import {
  bearer,
  HOST_LIMIT_SECONDS,
  type Host,
  type HostPlaces,
  type HostSetup,
  keepsKeys,
  NOTICE_LIMIT_SECONDS,
  otherShell,
  SERVER_NAME,
  toolsThat,
  usualWords,
  words,
  writer,
} from './host.ts'

const fileOf = ({ home, env }: HostPlaces, name: string): string =>
  join(variable(env, 'COPILOT_HOME') ?? join(home, '.copilot'), name)

const MODE = 'https://agentclientprotocol.com/protocol/session-modes#'

function serverEntry({ server }: HostSetup) {
  const shared = { tools: ['*'], timeout: HOST_LIMIT_SECONDS * 1_000 }
  if (server.type === 'http') return { type: 'http', url: server.url, headers: bearer(server.token), ...shared }
  return { type: 'local', command: server.command, args: server.args, env: server.env, ...shared }
}

function hookEntries({ hook }: HostSetup) {
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

const created = { path: 'path', whole: 'file_text' }
const replaced = { path: 'path', old: 'old_str', next: 'new_str' }

export const copilot: Host = {
  title: 'Copilot CLI',
  install: 'npm install -g @github/copilot',
  configFiles: (at) => [
    {
      path: fileOf(at, 'mcp-config.json'),
      format: 'json',
      server: { keys: () => ['mcpServers', SERVER_NAME], entry: serverEntry, isOfFolder: false },
      hooks: null,
    },
    { path: fileOf(at, 'settings.json'), format: 'json', server: null, hooks: hookEntries },
  ],
  offSwitches: (at) => [{ path: fileOf(at, 'settings.json'), key: ['disableAllHooks'], off: true }],
  notes: [
    'Copilot CLI asks before every tool call, also with --allow-all-tools. It refuses a call if the hook fails, but not if the hook is too late. A yes counts more than --deny-tool.',
    'It does not ask where disableAllHooks is set.',
  ],
  hook: {
    ...usualWords,
    canChange: keepsKeys,
    // Also `--deny-tool`. Without an opinion its own rules decide.
    overrules: true,
    // It tells the model the reason only from the JSON, and reads the JSON only without an exit code.
    denialExitCode: 0,
  },
  call: { client: /^copilot-cli\b|^github-copilot/, seconds: 180, isExtended: true },
  reads: { folder: '.copilot', files: /^copilot(?:\.local|\.override)?\.md$/ },
  // Its hooks say Read, Write, Edit, Grep, Glob, Bash and Agent, with the arguments of its own tools.
  tools: {
    ...toolsThat('host', 'report_intent', 'update_todo', 'ask_user', 'exit_plan_mode', 'task_complete', 'skill', 'sql'),
    ...toolsThat(
      'host',
      'list_bash',
      'read_bash',
      'stop_bash',
      'list_powershell',
      'read_powershell',
      'stop_powershell',
    ),
    // The calls of an agent are asked about one by one.
    ...toolsThat('host', 'Agent', 'task', 'list_agents', 'read_agent', 'write_agent'),
    fetch_copilot_cli_documentation: 'host',
    ...toolsThat('reads', 'Read', 'view', 'show_file'),
    ...toolsThat('searches', 'Glob', 'glob', 'Grep', 'grep', 'rg'),
    Write: writer(created),
    create: writer(created),
    Edit: writer(replaced),
    edit: writer(replaced),
    str_replace: writer(replaced),
    apply_patch: 'writes',
    ...toolsThat('runs', 'Bash', 'bash'),
    powershell: otherShell,
    ...toolsThat('reaches', 'WebFetch', 'web_fetch', 'web_search', 'session_store_sql', 'store_memory'),
    // What is typed into a command that runs may do anything.
    ...toolsThat('unknown', 'write_bash', 'write_powershell', 'str_replace_editor'),
  },
  acp: {
    command: 'copilot',
    args: ['--acp'],
    install: 'npm install -g @github/copilot',
    credentials: [
      ...['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN', 'COPILOT_MODEL'],
      ...['COPILOT_PROVIDER_BASE_URL', 'COPILOT_PROVIDER_TYPE', 'COPILOT_PROVIDER_WIRE_API'],
      ...['COPILOT_PROVIDER_API_KEY', 'COPILOT_PROVIDER_BEARER_TOKEN'],
    ],
    authMethod: null,
    env: { COPILOT_AUTO_UPDATE: 'false', COPILOT_ALLOW_ALL: 'false' },
    askingMode: `${MODE}agent`,
    bold: { modes: [`${MODE}autopilot`], options: { allow_all: 'on' } },
    // It does not list /yolo, and it reads a command behind empty lines too.
    commands: ['compact', 'context', 'init', 'plan', 'research', 'review', 'security-review', 'usage'],
    writesThroughClient: false,
    toolOf({ kind, rawInput }) {
      // Its question adds what it has understood, in words of its own, to the arguments. A tool of an MCP server has none of them.
      const { commands, fileName, diff, ...input } = words(rawInput)
      if (kind === 'execute' && Array.isArray(commands) && typeof input.command === 'string')
        return { tool: process.platform === 'win32' ? 'powershell' : 'bash', input }
      if (kind !== 'edit' || typeof fileName !== 'string' || typeof diff !== 'string') return null
      if (input.path !== fileName) return { tool: 'apply_patch', input: {} }
      if (typeof input.file_text === 'string') return { tool: 'create', input }
      return { tool: typeof input.old_str === 'string' ? 'edit' : 'apply_patch', input }
    },
  },
}
