// What others have made and the published package brings: npm run notices writes THIRD-PARTY-NOTICES.md, a test compares.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { carriedPackages } from './carried-packages.ts'
import { BUNDLED, type ShippedPackage, shippedPackages } from './shipped-packages.ts'

const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i

/** The same on every machine: of packages that npm installs on some systems only, it names the licence and shows no text. */
export function thirdPartyNotices(root: string): string {
  const packages = shippedPackages(root)
  const texts = packages.filter(({ isForSomeSystems }) => !isForSomeSystems).map((one) => chapterOf(root, one))
  return `${INTRODUCTION}
${packages.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`).join('\n')}

${LIBVIPS}

${texts.filter((text) => text !== null).join('\n\n')}
`
}

const INTRODUCTION = `# Third-party notices

Quarterdeck is under the MIT licence. It is published with the work of others, each under its own licence. ${BUNDLED.join(', ')},
and what they need, are in its own files, in whole or in part; npm installs the rest beside it, unchanged, and of packages for one system only the one that fits.

| package | version | licence |
| --- | --- | --- |`

const LIBVIPS = `## libvips and what it is linked with

The packages @img/sharp-libvips-* hold libvips and the libraries that it uses, under the LGPL-3.0-or-later and other licences, which the README.md of each
package lists. They are shared libraries in packages of their own: you may replace them by another build. Their source and how they are built:
https://github.com/lovell/sharp-libvips. The licence: https://www.gnu.org/licenses/lgpl-3.0.html.`

function chapterOf(root: string, { name, version, license, folder }: ShippedPackage): string | null {
  const files = licenseFiles(join(root, folder), carriedPackages[name] ?? [])
  if (files.length === 0)
    return `## ${name} ${version}\n\n${[`${license}; the package has no text of it.`, ...textsOf(license)].join('\n\n')}`
  const texts = files.map((file) => fenced(readFileSync(join(root, folder, file), 'utf8')))
  return `## ${name} ${version}\n\n${texts.join('\n\n')}`
}

/** What the licence asks to be shown where the package itself does not. */
function textsOf(license: string): string[] {
  return [
    ...(license.includes('Apache-2.0') ? ['The text of the Apache License 2.0 stands under detect-libc.'] : []),
    ...(license.includes('BSD-3-Clause') ? [fenced(PROTOBUF_BSD)] : []),
  ]
}

/** Stands in the files of @bufbuild/protobuf that are Google's. */
const PROTOBUF_BSD = `Copyright 2008 Google Inc.  All rights reserved.

Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following
conditions are met:

* Redistributions of source code must retain the above copyright notice, this list of conditions and the following disclaimer.
* Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following disclaimer
  in the documentation and/or other materials provided with the distribution.
* Neither the name of Google Inc. nor the names of its contributors may be used to endorse or promote products derived from this
  software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT
NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE
COPYRIGHT OWNER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES
(INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS
INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE
OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`

/** Of the package, and of the parts of it that have a licence of their own. */
function licenseFiles(folder: string, carried: readonly string[]): string[] {
  if (!existsSync(folder)) throw new Error(`${folder} is not there: run npm install first`)
  const parts = [
    '.',
    ...new Set(carried.flatMap((pattern) => /^(cmaps|standard_fonts|wasm)\//.exec(pattern)?.[1] ?? [])),
  ]
  return parts.flatMap((part) =>
    readdirSync(join(folder, part))
      .filter((file) => LICENSE_FILE.test(file) || /^LICENSE_/.test(file))
      .sort()
      .map((file) => join(part, file)),
  )
}

const fenced = (text: string): string => `\`\`\`\`text\n${text.replaceAll('\r\n', '\n').trim()}\n\`\`\`\``

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  writeFileSync(join(root, 'THIRD-PARTY-NOTICES.md'), thirdPartyNotices(root))
}
