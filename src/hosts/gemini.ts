import { join } from 'node:path'
import { ServerError } from '../domain/errors.ts'
import {
  bearer,
  HOST_LIMIT_SECONDS,
  type Host,
  type HostSetup,
  keepsKeys,
  NOTICE_LIMIT_SECONDS,
  SERVER_NAME,
  usualWords,
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
  ownFolders: [],
  launch() {
    // A settings file that its environment names counts only if root owns it, and a second home folder would have no login.
    throw new ServerError(
      'config_invalid',
      'Gemini CLI reads MCP servers only from its own settings, so it cannot be started from here. Run quarterdeck connect gemini once, then start gemini yourself.',
    )
  },
  hook: {
    ...usualWords,
    asks: ['BeforeTool'],
    turnEnds: 'AfterAgent',
    reading: [
      'read_file',
      'read_many_files',
      'list_directory',
      'glob',
      'search_file_content',
      'grep_search',
      'write_todos',
      'ask_user',
    ],
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
}
