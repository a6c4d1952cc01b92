import { describe, expect, test } from 'vitest'
import { newGrant } from '../../../store/contract/samples.contract.ts'
import { archiveLine, sampleSession } from '../../testing/sample-session.ts'
import { archiveHeader, readArchiveHeader, readArchiveLine } from './session-archive.ts'

describe('an archive of sessions', () => {
  test('is read as it was written', () => {
    const session = sampleSession(1)

    readArchiveHeader(archiveHeader(Date.UTC(2026, 10, 15)))
    expect(readArchiveLine(archiveLine(session), 2)).toEqual({ type: 'session', session })
  })

  test('says what it is', () => {
    expect(JSON.parse(archiveHeader(0))).toEqual({
      archive: 'quarterdeck',
      version: 1,
      exported_at: '1970-01-01T00:00:00.000Z',
    })
  })

  test('is not confused with other files or archives of later versions', () => {
    for (const line of ['', 'hello', '[]', '{"archive":"other","version":1}']) {
      expect(() => readArchiveHeader(line)).toThrow('This file was not written by `quarterdeck sessions export`')
    }
    expect(() => readArchiveHeader('{"archive":"quarterdeck","version":2}')).toThrow(
      'This archive has version 2; this Quarterdeck reads up to 1.',
    )
  })

  test.each([1, 2, 3])('from before 0.1.0, of version %i, is refused', (version) => {
    expect(() => readArchiveHeader(`{"archive":"quarterdeck-sessions","version":${version}}`)).toThrow(
      `This archive was written before 0.1.0 (version ${version}), and this Quarterdeck cannot read it. Nothing was imported. To import it, use a checkout of commit 6665030b.`,
    )
  })

  test.each([
    ['no JSON', () => '{"session":', 'Line 7: it is not JSON. If it is the last line, the file was cut off.'],
    [
      'an id of its own making',
      () => archiveLine({ ...sampleSession(1), session: { ...sampleSession(1).session, id: '../x' } }),
      'Line 7: session.id: expected a UUID in lower case.',
    ],
    [
      'an entry that would break the stream',
      () => archiveLine({ ...sampleSession(1), entries: [{ seq: 1, runId: null, kind: 'event', data: '{"a":\n1}' }] }),
      'Line 7: entries.0.data: expected one line of JSON.',
    ],
    [
      'entries out of order',
      () => archiveLine({ ...sampleSession(1), entries: sampleSession(1).entries.toReversed() }),
      'Line 7: entries: out of order.',
    ],
    [
      'a run that is there twice',
      () => archiveLine({ ...sampleSession(1), runs: [...sampleSession(1).runs, ...sampleSession(1).runs] }),
      'Line 7: runs: one is there twice.',
    ],
    [
      'the bytes of a change that another session asks about',
      () => archiveLine({ ...sampleSession(1), proposals: [{ approvalId: 'other', diff: '', after: null }] }),
      'Line 7: proposals: one belongs to an unknown approval.',
    ],
    [
      'a grant that is there twice',
      () => JSON.stringify({ records: { grants: [newGrant({ id: 'g' }), newGrant({ id: 'g' })] } }),
      'Line 7: records.grants: one is there twice.',
    ],
    [
      'an entry of no run',
      () => archiveLine({ ...sampleSession(1), runs: [] }),
      'Line 7: entries: one belongs to an unknown run.',
    ],
    [
      "another session's run",
      () => archiveLine({ ...sampleSession(1), runs: sampleSession(2).runs }),
      'Line 7: runs: one belongs to another session.',
    ],
    [
      'a wait of no run',
      () => archiveLine({ ...sampleSession(1), waits: sampleSession(2).waits ?? [] }),
      'Line 7: waits: one belongs to another session or an unknown run.',
    ],
    [
      'a wait that nobody could answer',
      () =>
        archiveLine({
          ...sampleSession(1),
          waits: (sampleSession(1).waits ?? []).map((wait) => ({ ...wait, status: 'pending' as const })),
        }),
      'Line 7: waits: one is pending on a run that has ended.',
    ],
    [
      'an unknown key',
      () => JSON.stringify({ ...sampleSession(1), extra: 1 }),
      'Line 7: it: Unrecognized key: "extra".',
    ],
  ])('a line with %s is refused with its number', (_, line, message) => {
    expect(() => readArchiveLine(line(), 7)).toThrow(message)
  })
})
