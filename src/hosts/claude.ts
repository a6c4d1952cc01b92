import { join } from 'node:path'
import { variable } from '../config/source/env-file.ts'
import {
  bearer,
  HOST_LIMIT_SECONDS,
  type Host,
  type HostPlaces,
  type HostSetup,
  NOTICE_LIMIT_SECONDS,
  otherShell,
  SERVER_NAME,
  toolsThat,
  usualWords,
  words,
  writer,
} from './host.ts'

const settingsFile = ({ home, env }: HostPlaces): string =>
  join(variable(env, 'CLAUDE_CONFIG_DIR') ?? join(home, '.claude'), 'settings.json')

function serverEntry({ server }: HostSetup) {
  const timeout = HOST_LIMIT_SECONDS * 1_000
  if (server.type === 'http') return { type: 'http', url: server.url, headers: bearer(server.token), timeout }
  return { type: 'stdio', command: server.command, args: server.args, env: server.env, timeout }
}

function hookEntries({ hook }: HostSetup) {
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

export const claude: Host = {
  title: 'Claude Code',
  install: 'npm install -g @anthropic-ai/claude-code',
  configFiles: (at) => [
    {
      path: join(variable(at.env, 'CLAUDE_CONFIG_DIR') ?? at.home, '.claude.json'),
      format: 'json',
      server: {
        // The servers of a folder, and those of the user, stand in one file outside of the folder.
        keys: (workspace) => [...(workspace === null ? [] : ['projects', workspace]), 'mcpServers', SERVER_NAME],
        entry: serverEntry,
        isOfFolder: true,
      },
      hooks: null,
    },
    { path: settingsFile(at), format: 'json', server: null, hooks: hookEntries },
  ],
  offSwitches: ({ workspace, ...at }) =>
    [
      settingsFile(at),
      join(workspace, '.claude', 'settings.json'),
      join(workspace, '.claude', 'settings.local.json'),
    ].map((path) => ({ path, key: ['disableAllHooks'], off: true })),
  notes: [
    'Claude Code asks before every tool call, also with --dangerously-skip-permissions. It refuses a call if the hook fails (2.1.295 and later).',
    'It does not ask with --bare, or where disableAllHooks is set. Start Claude Code again to use it.',
  ],
  hook: {
    ...usualWords,
    projectVariable: 'CLAUDE_PROJECT_DIR',
    canChange: () => true,
  },
  call: { client: /^claude-code\b/, seconds: 300, isExtended: true },
  reads: {
    folder: '.claude',
    files: /^(?:\.?mcp(?:\.local)?\.json|claude(?:\.local|\.override)?\.md|\.claude\.json)$/,
  },
  tools: {
    ...toolsThat('host', 'TodoWrite', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate', 'TaskOutput', 'TaskStop'),
    ...toolsThat('host', 'BashOutput', 'KillShell', 'KillBash', 'AgentOutputTool', 'ListAgents', 'ReportFindings'),
    ...toolsThat('host', 'AskUserQuestion', 'EnterPlanMode', 'ExitPlanMode', 'SendUserMessage', 'StructuredOutput'),
    ...toolsThat('host', 'ToolSearch', 'WaitForMcpServers', 'RefreshMcpTools', 'ListMcpResourcesTool'),
    ...toolsThat('host', 'CronList', 'CronDelete', 'ScheduleWakeup', 'ReadNotifications', 'Sleep'),
    // The calls of an agent on this machine are asked about one by one. In a worktree of its own or in the cloud it is out of sight.
    Agent: { effect: 'host', unless: ['isolation'] },
    Task: { effect: 'host', unless: ['isolation'] },
    ...toolsThat('reads', 'Read', 'NotebookRead', 'LSP'),
    ...toolsThat('searches', 'Glob', 'Grep', 'LS'),
    Write: writer({ path: 'file_path', whole: 'content' }),
    Edit: writer({ path: 'file_path', old: 'old_string', next: 'new_string', all: 'replace_all' }),
    MultiEdit: writer({ path: 'file_path' }),
    NotebookEdit: writer({ path: 'notebook_path', next: 'new_source' }),
    Bash: { effect: 'runs', unless: ['dangerouslyDisableSandbox'] },
    Monitor: { effect: 'runs', unless: ['ws'] },
    PowerShell: otherShell,
    ...toolsThat('reaches', 'WebFetch', 'WebSearch', 'SendFeedback', 'PushNotification', 'RemoteTrigger', 'Projects'),
    ...toolsThat('reaches', 'Artifact', 'ClaudeDesign', 'SendUserFile'),
    // A skill may run commands while it is loaded. Resources of an MCP server may be files. A message may go to an agent elsewhere.
    ...toolsThat('unknown', 'Skill', 'SlashCommand', 'ReadMcpResourceTool', 'ReadMcpResourceDirTool', 'SendMessage'),
    ...toolsThat('unknown', 'CronCreate', 'EnterWorktree', 'ExitWorktree', 'Workflow', 'REPL', 'Config'),
  },
  acp: {
    command: 'claude-agent-acp',
    args: [],
    install: 'npm install -g @agentclientprotocol/claude-agent-acp',
    credentials: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN', 'ANTHROPIC_BASE_URL'],
    authMethod: null,
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
    // Its command /config may have chosen another one for the sessions after it.
    askingMode: 'default',
    bold: { modes: ['acceptEdits', 'auto', 'bypassPermissions'], options: {} },
    commands: null,
    writesThroughClient: false,
    toolOf({ name, rawInput, _meta }) {
      const tool = name ?? words(_meta?.claudeCode).toolName
      return typeof tool === 'string' ? { tool, input: words(rawInput) } : null
    },
  },
}
