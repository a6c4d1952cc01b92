import { expect, test } from 'vitest'
import { openElsewhere, openOwn } from './testing/open-records.ts'

const text = (content: string | Buffer, name = 'a.txt') => ({ files: [{ name, content }] })

async function openDiff(options: Parameters<typeof openElsewhere>[0] = {}) {
  const opened = openElsewhere(options)
  return { ...opened, ...(await opened.ask('diff')) }
}

test('a file edits a change: it is shown again, and only then approved', async () => {
  const { slack, id, ts, thread, services } = await openDiff({ risk: 'high' })
  await slack.reply('ann', thread, '', text('one\nfour “quoted” <b>\n'))

  const [told = ''] = slack.told('ann')
  expect(told).toContain('ann edited it. Nothing is decided yet: look at the new version, then answer.')
  expect(told).toContain('| +four “quoted” <b>')
  // In the thread for everybody, because the card may have no room for it.
  expect(slack.attached).toMatchObject([{ snippetType: 'diff', content: expect.stringContaining('+four') }])
  expect(await slack.find(id)).toMatchObject({ status: 'pending', supervised: { isEdited: true } })
  expect(slack.versions(ts).at(-1)).toContain('| +four “quoted” <b>')
  expect(slack.versions(ts).at(-1)).toContain('An operator has changed what the agent asked for.')
  await slack.press('ann', ts, 'approve')
  await slack.pressOwn('ann', 'confirm:approve')
  expect(await slack.find(id)).toMatchObject({ status: 'approved', decidedBy: 'ann' })
  const { after } = (await services.store.supervised.proposal(id)) ?? {}
  expect(Buffer.from(after ?? []).toString()).toBe('one\nfour “quoted” <b>\n')
})

test('the person who edited it can say yes where it is shown to them', async () => {
  const { slack, id, thread } = await openDiff()
  await slack.reply('ann', thread, '', text('one\nfour\n'))
  await slack.pressOwn('ann', 'approve')
  expect(slack.told('ann')).toEqual(['Approved.'])
  expect(await slack.find(id)).toMatchObject({ status: 'approved', decidedBy: 'ann' })
})

test('a typed yes to an edited change is asked for twice, whatever its risk', async () => {
  const { slack, id, thread } = await openDiff()
  await slack.reply('ann', thread, '', text('one\nfour\n'))
  await slack.reply('root', thread, 'accept')
  expect(slack.told('root').at(-1)).toContain('Approve it?')
  await slack.pressOwn('root', 'confirm:approve')
  expect(await slack.find(id)).toMatchObject({ status: 'approved', decidedBy: 'root' })
})

test.each([
  ['the same text', text('one\nthree\n'), 'Your text is the same as what is asked, so nothing was edited.'],
  ['two files', { files: [...text('a').files, ...text('b').files] }, 'Attach exactly one file to a reply.'],
  ['no text', text(Buffer.from([0xff, 0xfe, 0])), 'The file is not text in UTF-8.'],
  ['too much', text(Buffer.alloc(5_000_001, 'a')), 'The file is too large: at most 5 MB are taken.'],
])('%s edits nothing and decides nothing', async (_name, files, told) => {
  const { slack, id, thread } = await openDiff()
  await slack.reply('ann', thread, 'accept', files)

  expect(slack.told('ann')).toEqual([expect.stringContaining(told)])
  expect(await slack.find(id)).toMatchObject({ status: 'pending', supervised: { isEdited: false } })
})

test('a file that Slack does not keep, or does not give, is not fetched', async () => {
  const { slack, id, thread } = await openDiff()
  await slack.reply('ann', thread, '', text('x'))
  const [payload] = slack.payloads
  const event = payload?.event as Record<string, unknown>
  const foreign = { size: 1, is_external: true, mode: 'external', url_private: 'https://drive.example/x' }
  await slack.answers.onMessage({ ...event, ts: '9999999999.000100', files: [foreign] }, { teamId: 'T0ACME' })
  expect(slack.told('ann').at(-1)).toContain('That file is not kept in Slack.')
  slack.broken.add('download')
  await slack.reply('ann', thread, '', text('y'))
  expect(slack.told('ann').at(-1)).toBe('Your file could not be fetched from Slack. Nothing was edited; send it again.')
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
})

test('only who may decide may edit, and only what waits', async () => {
  const { slack, id, ts, thread } = await openDiff()
  await slack.reply('eve', thread, '', text('evil\n'))
  expect(slack.told('eve')).toEqual([expect.stringContaining('only ann or an admin may decide')])
  await slack.reply('mal', thread, '', text('evil\n'))
  expect(slack.told('mal')).toEqual([])
  expect(await slack.find(id)).toMatchObject({ supervised: { isEdited: false } })
  await slack.press('ann', ts, 'reject')
  await slack.reply('ann', thread, '', text('one\nfour\n'))
  expect(slack.told('ann')).toEqual(['A file edits a change or a call that waits here, and nothing like that does.'])
})

test('several can be edited: the id beside the file says which', async () => {
  const { slack, ask } = openElsewhere()
  const permission = await ask('permission')
  const diff = await ask('diff')
  await slack.reply('ann', diff.thread, '', text('one\nfour\n'))
  expect(slack.told('ann').at(-1)).toContain('Several things can be edited.')
  await slack.reply('ann', diff.thread, `edit ${diff.id}`, text('one\nfour\n'))
  expect(await slack.find(diff.id)).toMatchObject({ supervised: { isEdited: true } })
  expect(await slack.find(permission.id)).toMatchObject({ supervised: { isEdited: false } })
})

test.each(['permission', 'tool_call'] as const)('arguments of a %s are shown again before their yes', async (kind) => {
  const opened = kind === 'tool_call' ? await openOwn(kind) : await openPermission()
  const { slack, id, thread } = opened
  const [name, was, now] = kind === 'tool_call' ? ['path', '/tmp/a', '/tmp/b'] : ['command', 'deploy', 'npm run lint']
  await slack.reply('ann', thread, '', text(JSON.stringify({ [name]: now }), 'args.json'))

  expect(slack.told('ann')).toHaveLength(1)
  expect(slack.told('ann')[0]?.split('\n').slice(1)).toEqual([
    'As it is asked:',
    `| ${name}: ${was}`,
    'As you edited it, this would run:',
    `| ${name}: ${now}`,
    '[Yes, approve the edited call] [No]',
  ])
  expect(await slack.find(id)).toMatchObject({ status: 'pending', editedArguments: null })
  await slack.pressOwn('ann', 'confirm:approve')
  expect(slack.told('ann')).toEqual(['Approved as edited.'])
  expect(await slack.find(id)).toMatchObject({ decidedBy: 'ann', editedArguments: JSON.stringify({ [name]: now }) })
})

async function openPermission() {
  const opened = openElsewhere()
  return { ...opened, ...(await opened.ask('permission')) }
}

test('edited arguments are gone after No, and void when nobody has kept them', async () => {
  const { slack, id, thread, services } = await openPermission()
  const edit = () => slack.reply('ann', thread, '', text('{"command":"npm run lint"}', 'args.json'))
  await edit()
  await slack.pressOwn('ann', 'cancel')
  expect(slack.told('ann')).toEqual(['Nothing was decided.'])
  expect(await services.store.outbox.notes('slack:C0OPS')).toEqual([])
  await edit()
  const note = { type: 'note_for_channel', channel: 'slack:C0OPS', key: `edit/${id}/U0ANN` } as const
  await services.log.commit({ ...note, value: null })
  await slack.pressOwn('ann', 'confirm:approve')
  expect(slack.told('ann').at(-1)).toContain('It has changed since you saw it.')
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
})

test.each([
  ['{"path": 3}', 'The edited arguments do not fit wipe'],
  ['{"other": "x"}', 'The edited arguments do not fit wipe'],
])('arguments that the tool does not take (%s) are refused, and nothing runs', async (args, told) => {
  const { slack, id, thread, calls } = await openOwn('tool_call')
  await slack.reply('ann', thread, '', text(args, 'args.json'))
  await slack.pressOwn('ann', 'confirm:approve')
  expect(slack.told('ann').at(-1)).toContain(told)
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
  expect(calls).toEqual([])
})

test.each([
  ['no JSON', 'To edit a call, attach its arguments as a JSON object'],
  ['[1]', 'To edit a call, attach its arguments as a JSON object'],
  ['{"path":"/tmp/a"}', 'Your arguments are the same as those that are asked.'],
  [`{"path":"${'x'.repeat(100_000)}"}`, 'These arguments are too long to edit here.'],
])('a file with %.20j edits no call', async (args, told) => {
  const { slack, id, thread } = await openOwn('tool_call')
  await slack.reply('ann', thread, '', text(args, 'args.json'))
  expect(slack.told('ann')).toEqual([expect.stringContaining(told)])
  expect(await slack.find(id)).toMatchObject({ status: 'pending' })
})
