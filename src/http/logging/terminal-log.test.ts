import { describe, expect, test } from 'vitest'
import { spelled } from '../../domain/settings/program-words.ts'
import { createLogger } from './logger.ts'
import { createTerminalLog } from './terminal-log.ts'

function setUp({ width = 200, terminal = false } = {}) {
  const lines: string[] = []
  const log = createLogger({
    level: 'info',
    format: 'text',
    content: false,
    secrets: ['a-secret-key'],
    now: () => 0,
    tap() {},
    colors: false,
    write: (line) => void lines.push(line.replace(/\d\d:\d\d:\d\d/, 'TIME')),
    render: createTerminalLog({
      colors: terminal,
      width: () => width,
      answerUrl: (id) => `http://127.0.0.1:8000/#thread=${id}`,
      spell: (text) => spelled(text, 'npx quarterdeck'),
    }),
  })
  const ids = { correlation_id: 'c', session_id: 's', run_id: 'r', agent: 'clerk' }
  return { log: log.with(ids), lines }
}

describe('the log at a terminal', () => {
  test('does not call it refused that ctl has to ask for the passphrase, and spells commands as one types them', () => {
    const { log, lines } = setUp()
    const decision = { method: 'POST', route: '/approvals/:id', run_id: undefined }
    log.info('request', { ...decision, status: 401, code: 'passphrase_required' })
    log.info('request', { ...decision, status: 401, code: 'passphrase_wrong' })
    log.warn('There is no operator token: run `quarterdeck tokens create --role operator`.')
    expect(lines).toEqual([
      'TIME  POST /approvals/:id was refused: 401 passphrase_wrong\n',
      expect.stringContaining('`npx quarterdeck tokens create'),
    ])
  })

  test('shows a run as one short line without ids', () => {
    const { log, lines } = setUp()
    const used = { tools: { search: 2, send_mail: 1 }, input_tokens: 1_200, output_tokens: 34 }
    log.info('run', { outcome: 'completed', ...used, cost: 0.00214, latency_ms: 3_412 })
    log.info('run', { outcome: 'completed', latency_ms: 412 })
    log.info('run', { outcome: 'cancelled', stopped_by: 'ada', latency_ms: 900 })
    expect(lines).toEqual([
      'TIME  clerk answered · search ×2, send_mail · 1,234 tokens · cost 0.0021 · 3.4 s\n',
      'TIME  clerk answered · 0.4 s\n',
      'TIME  clerk was stopped by ada · 0.9 s\n',
    ])
  })

  test('says where to answer what waits for a person', () => {
    const { log, lines } = setUp()
    log.info('waiting for a person', { tool: 'send_mail', approval_id: 'a' })
    log.info('run', { outcome: 'waiting', approvals: ['send_mail', 'send_mail', 'pay'], latency_ms: 1 })
    log.info('run', { outcome: 'waiting', client_calls: ['pick_date'], latency_ms: 1 })
    expect(lines).toEqual([
      'TIME  clerk waits for approval of send_mail, pay → http://127.0.0.1:8000/#thread=s\n',
      'TIME  clerk waits for the client: pick_date\n',
    ])
  })

  test('tells of agents elsewhere, and where to answer what they ask', () => {
    const { log: base, lines } = setUp()
    const log = base.with({ agent: 'claude-code', folder: '/srv/shop' })
    log.info('agent session', { outcome: 'opened', by: 'ada' })
    log.info('waiting for a person', { tool: 'Bash', approval_id: 'a', kind: 'permission' })
    log.info('decision', { tool: 'Bash', outcome: 'approved', by: 'ada', channel: 'ctl', approval_id: 'a' })
    log.info('tool call', { tool: 'approve_tool', host_tool: 'Bash', outcome: 'allow', latency_ms: 5 })
    log.warn('stall alert', { outcome: 'pending', last_tool: 'Bash', idle_seconds: 300, nudge_count: 0 })
    log.info('nudge', { outcome: 'stream', by: 'quarterdeck', nudge_count: 1 })
    log.warn('sign-in alert', { outcome: 'pending', mcp_server: 'crm' })
    expect(lines).toEqual([
      'TIME  claude-code in /srv/shop: agent session opened by ada\n',
      'TIME  claude-code in /srv/shop asks: Bash → http://127.0.0.1:8000/#thread=s\n',
      'TIME  claude-code in /srv/shop: decision Bash approved by ada\n',
      'TIME  claude-code in /srv/shop: stall alert pending\n',
      'TIME  claude-code in /srv/shop: nudge stream by quarterdeck\n',
    ])
  })

  test('shows how far documents are read, and what could not be', () => {
    const { log, lines } = setUp()
    const of = { documents: 'handbook', index: 'k-1' }
    log.info('documents are being read', { ...of, done: 120, total: 1_300, phase: 'reading' })
    log.info('documents are being read', { ...of, done: 50, total: 1_310, phase: 'embedding' })
    log.info('documents are up to date', { ...of, files: 1, passages: 1_310, problems: 0, read: 1, removed: 0 })
    const problems = { problems: 2, not_read: ['old.doc: It is an Office document older than 2007.', 'b'] }
    log.info('documents are up to date', { ...of, files: 300, passages: 1_310, ...problems, read: 300, removed: 0 })
    expect(lines).toEqual([
      'TIME  handbook: 120 of 1,300 files read\n',
      'TIME  handbook: 50 of 1,310 passages embedded\n',
      'TIME  handbook: 1 file, 1,310 passages\n',
      'TIME  handbook: 300 files, 1,310 passages; 2 could not be read, or not as a whole: old.doc: It is an Office document older than 2007. All of them: npx quarterdeck knowledge status\n',
    ])
  })

  test('reports a failure once, with its reason', () => {
    const { log, lines } = setUp()
    const why = { code: 'model_auth_failed', reason: 'The key a-secret-key was refused. Check OPENAI_API_KEY.' }
    log.warn('model is asked again', { provider: 'openai', model: 'gpt', ...why, attempt: 1, wait_ms: 500 })
    log.warn('model call', { provider: 'openai', model: 'gpt', outcome: 'failed', ...why, latency_ms: 5 })
    log.warn('run', { outcome: 'failed', ...why, latency_ms: 5 })
    log.warn('request failed', { error: new Error(why.reason) })
    log.info('request', { method: 'POST', route: '/chat', status: 500, code: 'model_auth_failed', latency_ms: 5 })
    expect(lines).toEqual([
      'TIME  openai/gpt is asked again in 0.5 s: The key [masked] was refused. Check OPENAI_API_KEY.\n',
      'TIME  clerk failed: The key [masked] was refused. Check OPENAI_API_KEY.\n',
    ])
  })

  test('reports a failed tool once, with the reason if it threw', () => {
    const { log, lines } = setUp()
    log.warn('a tool threw', { tool: 'lookup', call_id: '1', error: new Error('no such thing') })
    log.info('tool call', { tool: 'lookup', call_id: '1', latency_ms: 10, outcome: 'failed' })
    log.info('tool call', { tool: 'lookup', call_id: '2', latency_ms: 300, outcome: 'failed' })
    log.info('tool call', { tool: 'lookup', call_id: '3', latency_ms: 10, outcome: 'completed' })
    expect(lines).toEqual([
      'TIME  the tool lookup failed: no such thing\n',
      'TIME  clerk: the tool lookup failed after 0.3 s\n',
    ])
  })

  test('shows only requests that the caller has to change', () => {
    const { log, lines } = setUp()
    for (const [method, route, status, code] of [
      ['POST', '/chat', 200],
      ['GET', '-', 404, 'route_not_found'],
      ['POST', '-', 404, 'route_not_found'],
      ['GET', '/ready', 503],
      ['POST', '/approvals/:id', 403, 'forbidden'],
    ] as const) {
      log.info('request', { run_id: undefined, method, route, status, code, latency_ms: 1 })
    }
    expect(lines).toEqual([
      'TIME  POST of an unknown path was refused: 404 route_not_found\n',
      'TIME  POST /approvals/:id was refused: 403 forbidden\n',
    ])
  })

  test('shows everything else with level, message, reason and facts, without ids', () => {
    const { log, lines } = setUp()
    log.warn('The tools of an MCP server are left out.', {
      agent: undefined,
      mcp_server: 'notes',
      reason: 'it is gone',
    })
    log.error('unexpected error', { agent: undefined, error: new TypeError('x is no function') })
    expect(lines).toEqual([
      'TIME  warning: The tools of an MCP server are left out: it is gone (mcp_server notes)\n',
      'TIME  error: unexpected error: x is no function\n',
    ])
  })

  test('breaks long lines between words, with the terminal’s colours', () => {
    const narrow = setUp({ width: 30 })
    narrow.log.info('run', { outcome: 'waiting', approvals: ['send_mail'], latency_ms: 1 })
    expect(narrow.lines).toEqual([
      'TIME  clerk waits for\n          approval of\n          send_mail →\n          http://127.0.0.1:8000/#thread=s\n',
    ])
    const { log, lines } = setUp({ terminal: true })
    log.warn('run', { outcome: 'failed', reason: 'No.', latency_ms: 1 })
    expect(lines).toEqual(['\x1b[2mTIME\x1b[22m\x1b[31m  clerk failed: No.\x1b[39m\n'])
  })

  test('names and reasons from strangers cannot start a line or control the terminal', () => {
    const { log, lines } = setUp()
    log.warn('run', { outcome: 'failed', reason: 'a\n12:00:00  ada answered\x1b[2J\x9b31m\u202e', latency_ms: 1 })
    log.info('run', { outcome: 'completed', tools: { 'x\r\x1b]0;y\x07': 1 }, latency_ms: 1 })
    expect(lines.length).toBe(2)
    for (const line of lines) expect(line).toMatch(/^[^\p{Cc}\u2028-\u202e]*\n$/u)
  })
})
