import type { ToolType } from '../domain/tool-settings.ts'
import { canonicalJson, sha256 } from '../json/digest.ts'

/**
 * Names what a tool does, as it is loaded. `made` is plain data: whatever decides what a call does belongs in it, and names of
 * secrets in the place of their values, so that a new key voids no approval.
 */
export const toolBinding = (kind: ToolType | 'code', made: unknown): string => sha256(canonicalJson([kind, made]))
