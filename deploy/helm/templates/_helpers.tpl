{{- define "holdfast.fullname" -}}
{{- default (ternary .Release.Name (printf "%s-holdfast" .Release.Name) (contains "holdfast" .Release.Name)) .Values.fullnameOverride | trunc 45 | trimSuffix "-" -}}
{{- end -}}

{{- define "holdfast.selector" -}}
app.kubernetes.io/name: holdfast
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "holdfast.labels" -}}
{{ include "holdfast.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "holdfast.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}

{{- define "holdfast.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
# The databases have mode 0600: the group of a file that is there is left as it is.
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "holdfast.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* The root of a volume may have a lost+found: a directory that is restored must be empty. */}}
{{- define "holdfast.dataDirectory" -}}
- name: HOLDFAST_DATA
  value: /data/holdfast
{{- end -}}

{{/* Placement that the writer and what must run on its node share. */}}
{{- define "holdfast.placement" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* holdfast.json. Fails where the values name no source, or two. */}}
{{- define "holdfast.config" -}}
{{- $source := .Values.source -}}
{{- $p := $source.participant -}}
{{- $config := dict "metricsAddress" "0.0.0.0:9464" -}}
{{- $sources := list -}}
{{- if $source.scan -}}
  {{- $sources = append $sources "scan" -}}
  {{- $_ := set $config "scan" $source.scan -}}
{{- end -}}
{{- if $p.url -}}
  {{- $sources = append $sources "participant" -}}
  {{- $ledgerApi := dict "url" $p.url -}}
  {{- if and $p.token.secret $p.oauth.secret -}}
    {{- fail "source.participant: given token.secret and oauth.secret, expected one of them" -}}
  {{- else if $p.token.secret -}}
    {{- $_ := set $config "ledgerApiTokenFile" (printf "/etc/holdfast/secrets/participant/%s" $p.token.key) -}}
    {{- $ledgerApi = $p.url -}}
  {{- else if $p.oauth.secret -}}
    {{- $secret := dict "file" (printf "/etc/holdfast/secrets/participant/%s" $p.oauth.key) -}}
    {{- $oauth := dict "tokenUrl" $p.oauth.tokenUrl "clientId" $p.oauth.clientId "clientSecret" $secret -}}
    {{- if not (and $p.oauth.tokenUrl $p.oauth.clientId) -}}
      {{- fail "source.participant.oauth: given a secret, expected tokenUrl and clientId too" -}}
    {{- end -}}
    {{- with $p.oauth.audience }}{{ $_ := set $oauth "audience" . }}{{ end -}}
    {{- with $p.oauth.scope }}{{ $_ := set $oauth "scope" . }}{{ end -}}
    {{- $_ := set $ledgerApi "oauth" $oauth -}}
  {{- else -}}
    {{- $ledgerApi = $p.url -}}
  {{- end -}}
  {{- $_ := set $config "ledgerApi" $ledgerApi -}}
  {{- $_ := set $config "ledgerApiParties" $p.parties -}}
{{- end -}}
{{- if $source.kafka.brokers -}}
  {{- $sources = append $sources "kafka" -}}
  {{- $_ := set $config "kafkaBrokers" $source.kafka.brokers -}}
  {{- $_ := set $config "kafkaTopic" (required "source.kafka.topic: not given, expected the topic of updates" $source.kafka.topic) -}}
{{- end -}}
{{- if ne (len $sources) 1 -}}
  {{- fail (printf "source: given %s, expected one of scan, participant.url and kafka.brokers" (default "none" (join " and " $sources))) -}}
{{- end -}}
{{- with .Values.dso }}{{ $_ := set $config "dso" . }}{{ end -}}
{{- if .Values.apiKeys.secret }}{{ $_ := set $config "apiKeysFile" (printf "/etc/holdfast/secrets/api-keys/%s" .Values.apiKeys.key) }}{{ end -}}
{{- merge $config .Values.settings | toPrettyJson -}}
{{- end -}}

{{/* Secret of each folder of /etc/holdfast/secrets. */}}
{{- define "holdfast.secrets" -}}
{{- $folders := dict -}}
{{- range .Values.secrets }}{{ $_ := set $folders . . }}{{ end -}}
{{- with .Values.apiKeys.secret }}{{ $_ := set $folders "api-keys" . }}{{ end -}}
{{- with .Values.source.participant }}
  {{- if .url }}{{ with coalesce .token.secret .oauth.secret }}{{ $_ := set $folders "participant" . }}{{ end }}{{ end -}}
{{- end -}}
{{- $folders | toJson -}}
{{- end -}}

{{/* Ports of what it connects to. */}}
{{- define "holdfast.egressPorts" -}}
{{- $ports := .Values.networkPolicy.egressPorts -}}
{{- $participant := .Values.source.participant -}}
{{- $urls := concat .Values.source.scan (compact (list $participant.url (ternary $participant.oauth.tokenUrl "" (ne $participant.oauth.secret "")))) (default list .Values.settings.compareWith) -}}
{{- range $urls -}}
  {{- $url := urlParse . -}}
  {{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
  {{- $ports = append $ports (int (default (ternary "443" "80" (eq $url.scheme "https")) $port)) -}}
{{- end -}}
{{- range .Values.source.kafka.brokers -}}
  {{- $ports = append $ports (regexFind "[0-9]+$" . | int) -}}
{{- end -}}
{{- $ports | uniq | toJson -}}
{{- end -}}
