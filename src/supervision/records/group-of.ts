import { isSupervisedApproval, type PersonRecord } from '../../domain/records/record.ts'
import { canonicalJson, sha256 } from '../../json/digest.ts'
import { isEdited, isHostWork } from '../remember/offered.ts'

const KEY_CHARS = 16

/**
 * The key of the group that is decided after one look: pending work of low risk that is alike, of one agent in one folder. Null: it is
 * decided alone.
 */
export function groupOf(record: PersonRecord, workspaceRoot: string | null): string | null {
  if (record.wait !== 'approval' || !isSupervisedApproval(record) || workspaceRoot === null) return null
  const { status, risk, quorum = 1, kind, tool, owner, matches = [], supervised } = record
  const { host, change, contentKey } = supervised
  const isLow = risk === 'low' && quorum === 1 && (change?.protectedBecause ?? null) === null
  if (status !== 'pending' || !isLow || !isHostWork(record) || isEdited(record)) return null
  // The last match is the widest. All that a tool does is not alike. Without a match only the very same work is.
  const like = matches.findLast(({ type }) => type !== 'tool') ?? matches.at(-1) ?? contentKey
  return sha256(canonicalJson([host, owner, workspaceRoot, kind, tool, like])).slice(0, KEY_CHARS)
}
