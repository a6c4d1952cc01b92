{{- define "quarterdeck.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "quarterdeck.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "quarterdeck.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "quarterdeck.selector" . }}
{{- end }}

{{- define "quarterdeck.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "quarterdeck.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "quarterdeck.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- define "quarterdeck.secret" -}}
{{- if .Values.secret.existingSecret }}{{ .Values.secret.existingSecret }}{{ else }}
{{- if not (hasPrefix "postgres" (get .Values.secret.values "QUARTERDECK_STORE" | default "")) }}
{{- fail "Set secret.existingSecret, or secret.values.QUARTERDECK_STORE to postgres://user:password@host:5432/database. For one server without Postgres, see docs/do/run-in-a-container.md." }}
{{- end }}
{{- include "quarterdeck.name" . }}{{ end }}
{{- end }}

{{- define "quarterdeck.configMap" -}}
{{- if .Values.agent.existingConfigMap }}
{{- if .Values.settings }}{{ fail "settings and agent.existingConfigMap exclude each other: put quarterdeck.yaml into the ConfigMap." }}{{ end }}
{{- .Values.agent.existingConfigMap }}{{ else }}{{ include "quarterdeck.name" . }}{{ end }}
{{- end }}

{{- define "quarterdeck.allowedHosts" -}}
{{- $hosts := .Values.allowedHosts }}
{{- if .Values.ingress.enabled }}{{ $hosts = append $hosts .Values.ingress.host }}{{ end }}
{{- $hosts = append $hosts (include "quarterdeck.name" .) }}
{{- $hosts = append $hosts (printf "%s.%s.svc" (include "quarterdeck.name" .) .Release.Namespace) }}
{{- $hosts | uniq | join "," }}
{{- end }}

{{- define "quarterdeck.environment" -}}
- name: QUARTERDECK_ALLOWED_HOSTS
  value: {{ include "quarterdeck.allowedHosts" . | quote }}
- name: QUARTERDECK_SHUTDOWN_DRAIN
  value: {{ printf "%ds" (int .Values.drainSeconds) | quote }}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "quarterdeck.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "quarterdeck.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "quarterdeck.mounts" -}}
- name: agent
  mountPath: /agent
  readOnly: true
- name: scratch
  mountPath: /var/lib/quarterdeck
- name: tmp
  mountPath: /tmp
{{- end }}

{{- define "quarterdeck.volumes" -}}
- name: agent
  configMap:
    name: {{ include "quarterdeck.configMap" . }}
- name: scratch
  emptyDir:
    sizeLimit: {{ .Values.scratch.sizeLimit }}
- name: tmp
  emptyDir: {}
{{- end }}
