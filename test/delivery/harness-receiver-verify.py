"""Verifies deliveries with the Python packages: JSON in on stdin, one verdict a package out."""

import base64
import json
import sys

import standardwebhooks
import svix

PACKAGES = {"standardwebhooks": standardwebhooks, "svix": svix}


def verdict(package, delivery):
    webhook = package.Webhook(delivery["secret"])
    try:
        webhook.verify(base64.b64decode(delivery["body"]), delivery["headers"])
        return "verified"
    except package.WebhookVerificationError:
        return "refused"


received = json.load(sys.stdin)
print(json.dumps({name: [verdict(p, each) for each in received] for name, p in PACKAGES.items()}))
