import { join } from 'node:path'
import {
  bearer,
  HOST_LIMIT_SECONDS,
  type Host,
  type HostSetup,
  keepsKeys,
  NOTICE_LIMIT_SECONDS,
  onlyDiff,
  SERVER_NAME,
  toolsThat,
  usualWords,
  writer,
} from './host.ts'

const settingsIn = (folder: string): string => join(folder, '.gemini', 'settings.json')

function serverEntry({ server }: HostSetup) {
  // Our tools can only ask and report, so Gemini CLI need not confirm them.
  const shared = { timeout: HOST_LIMIT_SECONDS * 1_000, trust: true }
  if (server.type === 'http') return { httpUrl: server.url, headers: bearer(server.token), ...shared }
  return { command: server.command, args: server.args, env: server.env, ...shared }
}

function hookEntries({ hook }: HostSetup) {
  const entry = (event: string, isQuestion: boolean, seconds: number) => ({
    ...(isQuestion ? { matcher: '*' } : {}),
    hooks: [{ name: SERVER_NAME, type: 'command', command: hook(event, isQuestion), timeout: seconds * 1_000 }],
  })
  return {
    BeforeTool: entry('BeforeTool', true, HOST_LIMIT_SECONDS),
    SessionStart: entry('SessionStart', false, NOTICE_LIMIT_SECONDS),
    SessionEnd: entry('SessionEnd', false, NOTICE_LIMIT_SECONDS),
    AfterAgent: entry('AfterAgent', false, NOTICE_LIMIT_SECONDS),
    Notification: entry('Notification', false, NOTICE_LIMIT_SECONDS),
  }
}

export const gemini: Host = {
  title: 'Gemini CLI',
  install: 'npm install -g @google/gemini-cli',
  configFiles: ({ home }) => [
    {
      path: settingsIn(home),
      format: 'json',
      server: { keys: () => ['mcpServers', SERVER_NAME], entry: serverEntry, isOfFolder: false },
      hooks: hookEntries,
    },
  ],
  offSwitches: ({ home, workspace }) =>
    [home, workspace].map((folder) => ({ path: settingsIn(folder), key: ['hooksConfig', 'enabled'], off: false })),
  notes: [
    'Gemini CLI asks before every tool call, and then may still ask you at its terminal. It refuses a call if the hook says so or ends with code 2, and not if it is too late.',
    'It does not ask where hooksConfig.enabled is false.',
  ],
  hook: {
    ...usualWords,
    asks: ['BeforeTool'],
    turnEnds: 'AfterAgent',
    projectVariable: 'GEMINI_PROJECT_DIR',
    canChange: keepsKeys,
    // Gemini CLI itself tells the model which arguments were changed.
    allow: (event, changed) => ({
      decision: 'allow',
      ...(changed === null ? {} : { hookSpecificOutput: { hookEventName: event, tool_input: changed.updated } }),
    }),
    deny: (_event, reason) => ({ decision: 'deny', reason }),
    goOn: (text) => ({ decision: 'deny', reason: text }),
  },
  call: { client: /^gemini-cli/, seconds: 600, isExtended: false },
  reads: { folder: '.gemini', files: /^gemini(?:\.local|\.override)?\.md$/ },
  tools: {
    ...toolsThat(
      'host',
      'write_todos',
      'ask_user',
      'update_topic',
      'enter_plan_mode',
      'exit_plan_mode',
      'complete_task',
    ),
    ...toolsThat('host', 'list_background_processes', 'read_background_output', 'activate_skill', 'get_internal_docs'),
    ...toolsThat('host', 'tracker_create_task', 'tracker_get_task', 'tracker_list_tasks', 'tracker_update_task'),
    ...toolsThat('host', 'tracker_add_dependency', 'tracker_visualize', 'list_mcp_resources'),
    // The calls of an agent are asked about one by one.
    invoke_agent: 'host',
    ...toolsThat('reads', 'read_file', 'read_many_files', 'list_directory'),
    ...toolsThat('searches', 'glob', 'grep_search', 'search_file_content'),
    write_file: writer({ path: 'file_path', whole: 'content' }),
    replace: writer({
      path: 'file_path',
      old: 'old_string',
      next: 'new_string',
      all: 'allow_multiple',
      not: ['expected_replacements'],
    }),
    run_shell_command: 'runs',
    ...toolsThat('reaches', 'web_fetch', 'google_web_search'),
    // Its memory is a file that it obeys, in the home folder.
    ...toolsThat('unknown', 'save_memory', 'read_mcp_resource', 'take_snapshot'),
  },
  acp: {
    command: 'gemini',
    args: ['--acp'],
    install: 'npm install -g @google/gemini-cli',
    credentials: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GEMINI_BASE_URL', 'GEMINI_MODEL'],
    authMethod: 'gemini-api-key',
    // In a folder that it trusts, settings of the folder can switch its questions off. Without trust it also leaves out GEMINI.md and
    // MCP servers. Without the second variable it starts itself again as another process.
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'false', GEMINI_CLI_NO_RELAUNCH: 'true' },
    askingMode: 'default',
    bold: { modes: ['autoEdit', 'yolo'], options: {} },
    commands: null,
    writesThroughClient: true,
    toolOf(call) {
      // It tells no arguments, so a command is known only by its title: nobody judges it.
      const [tool = '', ...others] = call.toolCallId.split('__')
      if (others.length === 0) return null
      const diff = tool === 'write_file' || tool === 'replace' ? onlyDiff(call) : null
      if (diff === null) return { tool, input: {} }
      // It shows the whole file, whichever tool writes it.
      return { tool: 'write_file', input: { file_path: diff.path, content: diff.next } }
    },
  },
}
