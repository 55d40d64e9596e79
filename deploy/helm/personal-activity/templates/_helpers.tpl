{{- define "labels" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "coreUrl" -}}
http{{ if .Values.core.tlsSecret }}s{{ end }}://{{ .Release.Name }}-core:50051
{{- end }}

{{- /* The settings with which gateway and deliveries reach the core. */ -}}
{{- define "wayToCore" -}}
- { name: CORE_URL, value: {{ include "coreUrl" . | quote }} }
{{- if .Values.core.tlsSecret }}
- { name: CORE_TLS_CA, value: /run/core-ca/ca.crt }
{{- end }}
{{- if .Values.core.plaintext }}
- { name: ALLOW_PLAINTEXT, value: {{ .Values.core.plaintext | quote }} }
{{- end }}
{{- end }}

{{- /* The metrics port for deploy/prometheus/kubernetes.yaml. Deliveries also use the next port. */ -}}
{{- define "metricsEnv" -}}
{{- if .Values.metrics.enabled -}}
- { name: METRICS_HOST, value: {{ .Values.listenHost | quote }} }
- { name: METRICS_PORT, value: "9464" }
{{- end }}
{{- end }}

{{- define "tracesEnv" -}}
{{- if .Values.traces.endpoint -}}
- { name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ .Values.traces.endpoint | quote }} }
- { name: OTEL_TRACES_SAMPLER_ARG, value: {{ printf "%.9f" (float64 .Values.traces.sampledPart) | quote }} }
{{- end }}
{{- end }}

{{- define "podSecurity" -}}
automountServiceAccountToken: false
# With these links Kubernetes would set GATEWAY_PORT to a URL if the namespace has a Service named gateway.
enableServiceLinks: false
# The time to drain, at most 30 seconds to stop (ADR 0043), and five seconds to spare.
terminationGracePeriodSeconds: {{ add .Values.drainSeconds 35 }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "lifecycle" -}}
- { name: HEALTH_HOST, value: {{ .Values.listenHost | quote }} }
- { name: HEALTH_PORT, value: "8081" }
- { name: DRAIN_SECONDS, value: {{ .Values.drainSeconds | quote }} }
{{- end }}

{{- /* Liveness does not depend on other services: a restart does not bring a missing database or core back. */ -}}
{{- define "probes" -}}
livenessProbe: { httpGet: { path: /live, port: health }, periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 3 }
readinessProbe: { httpGet: { path: /ready, port: health }, periodSeconds: 5, timeoutSeconds: 4 }
{{- end }}

{{- define "containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* The keys of the Secret that a part needs, as files. The part sees no other keys. */ -}}
{{- define "secretVolume" -}}
- name: secrets
  secret:
    secretName: {{ .root.Values.existingSecret }}
    defaultMode: 0440
    items:
{{- range .keys }}
      - { key: {{ . }}, path: {{ . }} }
{{- end }}
{{- end }}

{{- define "coreCaVolume" -}}
- name: core-ca
  secret:
    secretName: {{ .Values.core.tlsSecret }}
    items: [{ key: ca.crt, path: ca.crt }]
{{- end }}
