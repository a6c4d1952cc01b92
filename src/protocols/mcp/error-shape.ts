// Failures before a message reaches MCP, as JSON-RPC errors: an MCP client cannot read a problem document.

import { z } from 'zod'
import type { ErrorCode } from '../../domain/errors.ts'
import type { ErrorShape } from '../../http/problem.ts'

const rpcCodes: Readonly<Partial<Record<ErrorCode, number>>> = {
  malformed_json: -32700,
  invalid_request: -32600,
  internal_error: -32603,
}
const OTHER = -32000

export const McpErrorSchema = z
  .strictObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int(), z.null()]),
    error: z.strictObject({ code: z.int(), message: z.string(), data: z.looseObject({}).optional() }),
  })
  .meta({ id: 'JsonRpcError' })

export const mcpErrorShape: ErrorShape = ({ status, code, detail, correlation_id, errors }) => ({
  status,
  contentType: 'application/json',
  body: {
    jsonrpc: '2.0',
    id: null,
    error: {
      code: new Map<string, number>(Object.entries(rpcCodes)).get(code) ?? OTHER,
      message: [detail, ...(errors ?? []).map((one) => one.detail)].join(' '),
      data: { code, correlation_id },
    },
  },
})
